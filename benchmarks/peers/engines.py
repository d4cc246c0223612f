"""The table of other engines: which package each needs, and which of the jobs on trees it has a call for."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from benchmarks.peers.bodies import Skeleton
from benchmarks.peers.compiled import compiler


@dataclass(frozen=True)
class Engine:
    """Name, module of this package, package it needs, and in words how it does each job that it can do.

    headers: libraries of headers that it is compiled with; without any nothing is compiled.
    """

    name: str
    module: str
    needs: str
    ways: dict[str, str]
    headers: tuple[str, ...] = ()

    @property
    def here(self) -> bool:
        """Return True where the engine and the compiler that it needs are installed."""
        return not self.missing

    @property
    def missing(self) -> str:
        """Name the packages that are missing and the command that installs them; empty where all are installed."""
        if importlib.util.find_spec(self.needs) is None:
            return f"{self.needs}; install limbsweep[peers]"
        return compiler.missing(self.headers) if self.headers else ""

    def tree(self, skeleton: Skeleton, gravity: Any) -> Any:
        """Return the spanning tree of a mechanism in this engine."""
        return self._module.Tree(skeleton, gravity)

    def closed_loops(self, skeleton: Skeleton, gravity: Any) -> Any:
        """Return a whole mechanism in this engine, its closures too."""
        return self._module.ClosedLoops(skeleton, gravity)

    @property
    def _module(self) -> Any:
        return importlib.import_module(f"benchmarks.peers.{self.module}")


ENGINES = (
    Engine(
        "Pinocchio",
        "pinocchio",
        "pinocchio",
        {
            "inverse_dynamics": "rneaInParallel",
            "inertia_matrix": "crba for each sample",
            "forward_dynamics": "abaInParallel",
            "reactions": "rnea for each sample",
            "designs": "placements and inertias of its model changed, rneaInParallel",
            "closed_loops": "constraintDynamics for each sample, cut joints as two points each; joint motion given",
        },
    ),
    Engine(
        "Pinocchio (native)",
        "compiled.native",
        "pinocchio",
        {
            "inverse_dynamics": "rnea in a loop of C++, compiled here",
            "inertia_matrix": "crba in a loop of C++, compiled here",
            "forward_dynamics": "aba in a loop of C++, compiled here",
            "reactions": "rnea in a loop of C++, compiled here",
        },
        compiler.ALGORITHMS,
    ),
    Engine(
        "Pinocchio (generated)",
        "compiled.generated",
        "pinocchio",
        {
            "inverse_dynamics": "C that its code generation makes of rnea for this tree, in a loop of C",
            "inertia_matrix": "C that its code generation makes of crba for this tree, in a loop of C",
            "forward_dynamics": "C that its code generation makes of aba for this tree, in a loop of C",
        },
        compiler.GENERATION,
    ),
    Engine(
        "Pinocchio (generated vectors)",
        "compiled.vectors",
        "pinocchio",
        {
            "inverse_dynamics": "that C of rnea for eight samples at once",
            "inertia_matrix": "that C of crba for eight samples at once",
            "forward_dynamics": "that C of aba for eight samples at once",
        },
        compiler.GENERATION,
    ),
    Engine(
        "MuJoCo",
        "mujoco",
        "mujoco",
        {
            "inverse_dynamics": "mj_inverse for each sample",
            "inertia_matrix": "mj_crb and mj_fullM for each sample",
            "forward_dynamics": "rollout of one step",
            "reactions": "mj_inverse and mj_rnePostConstraint for each sample",
            "designs": "arrays of its model changed, mj_setConst, mj_inverse for each sample",
            "closed_loops": "inertia matrix and bias for each sample; closures in NumPy; joint motion given",
            "rollout": "rollout, RK4",
            "closed_rollout": "rollout, RK4; cut joints as equality constraints",
            "tree_terms": "mj_fullM and qfrc_bias; loops, controller and steps in NumPy",
        },
    ),
    Engine(
        "Drake",
        "drake",
        "pydrake",
        {
            "inverse_dynamics": "CalcInverseDynamics for each sample",
            "inertia_matrix": "CalcMassMatrix for each sample",
            "designs": "a new plant, CalcInverseDynamics for each sample",
        },
    ),
    Engine(
        "Exudyn",
        "exudyn",
        "exudyn",
        {
            "inverse_dynamics": "mass matrix and forces of its solver for each sample",
            "inertia_matrix": "ComputeMassMatrix for each sample",
            "designs": "a new system, mass matrix and forces of its solver for each sample",
            "rollout": "SolveDynamic, RK44, for each sample",
            "tree_terms": "mass matrix and forces of its solver; loops, controller and steps in NumPy",
        },
    ),
)


OF_PINOCCHIO = tuple(engine.name for engine in ENGINES if engine.needs == "pinocchio")
"""Names of Pinocchio's entries: forces are in the axes of bodies, and parts of jobs on closed loops are timed."""


def able(job: str) -> Iterator[Engine]:
    """Yield the installed engines that can do a job on trees."""
    return (engine for engine in ENGINES if job in engine.ways and engine.here)
