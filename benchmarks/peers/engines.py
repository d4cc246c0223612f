"""The table of other engines: which package each needs, and which of the jobs on trees it has a call for."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from benchmarks.peers.bodies import Skeleton


@dataclass(frozen=True)
class Engine:
    """Name, module of this package, package it needs, and in words how it does each job that it can do."""

    name: str
    module: str
    needs: str
    ways: dict[str, str]

    @property
    def here(self) -> bool:
        """Whether it is installed."""
        return importlib.util.find_spec(self.needs) is not None

    def tree(self, skeleton: Skeleton, gravity: Any) -> Any:
        """The spanning tree of a mechanism in this engine."""
        return self._module.Tree(skeleton, gravity)

    def closed_loops(self, skeleton: Skeleton, gravity: Any) -> Any:
        """A whole mechanism in this engine, its closures too."""
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


def able(job: str) -> Iterator[Engine]:
    """Engines that are here and can do a job on trees."""
    return (engine for engine in ENGINES if job in engine.ways and engine.here)
