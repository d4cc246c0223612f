"""Jobs in Exudyn: one evaluation of its kinematic tree for each sample, through the solver that its users step with.

It has no call for inverse dynamics: mass matrix and forces of the tree come from the solver's C++, and the rest, M q''
less these forces, is computed for all samples at once.
"""

from __future__ import annotations

from typing import Any

import exudyn as exu
import numpy as np

from benchmarks.peers.bodies import Skeleton
from robots.types import BASE

Array = np.ndarray
NAME = "Exudyn"


class Tree:
    """The spanning tree of a skeleton; functions take and give (sample, body), C order."""

    def __init__(self, skeleton: Skeleton, gravity: Any):
        self.gravity, self.container = gravity, exu.SystemContainer()
        self.system = self.container.AddSystem()
        add_tree(self.system, skeleton, gravity)
        self.system.Assemble()
        self.solver = initialised(self.system)

    def numbers(self, skeleton: Skeleton) -> Any:
        """Return the numbers of another design of the same mechanism, as `change` takes them."""
        return skeleton

    def change(self, numbers: Any) -> None:
        """Become another design: a new model."""
        self.__init__(numbers, self.gravity)  # type: ignore[misc]

    def inverse_dynamics(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Return the joint torques."""
        matrices, forces = self._terms(q, qd)
        return np.asarray(np.matmul(matrices, qdd[..., None])[..., 0] - forces)

    def inertia_matrix(self, q: Array) -> Array:
        """Return the inertia matrices (sample, body, body)."""
        system, solver, data = self.system, self.solver, self.system.systemData
        result = np.empty((*q.shape, q.shape[1]))
        for k in range(len(q)):
            data.SetODE2Coordinates(q[k])
            solver.ComputeMassMatrix(system)
            result[k] = solver.GetSystemMassMatrix()
        return result

    def terms(self, q: Array, qd: Array) -> tuple[Array, Array]:
        """Return the inertia matrices (sample, body, body) and bias (sample, body) of the tree."""
        matrices, forces = self._terms(q, qd)
        return matrices, -forces

    def rollout(self, q: Array, qd: Array, step: float, steps: int) -> Array:
        """Return positions (sample, body) after steps [s] of the Runge-Kutta method of order four, without forces."""
        settings = _settings()
        settings.timeIntegration.numberOfSteps, settings.timeIntegration.endTime = steps, steps * step
        system, data, result = self.system, self.system.systemData, np.empty(q.shape)
        for k in range(len(q)):
            data.SetODE2Coordinates(q[k], exu.ConfigurationType.Initial)
            data.SetODE2Coordinates_t(qd[k], exu.ConfigurationType.Initial)
            system.SolveDynamic(settings, solverType=exu.DynamicSolverType.RK44)
            result[k] = data.GetODE2Coordinates()
        return result

    def _terms(self, q: Array, qd: Array) -> tuple[Array, Array]:
        """Return inertia matrices (sample, body, body), and the forces on the equations' right side (sample, body)."""
        system, solver, data, count = self.system, self.solver, self.system.systemData, q.shape[1]
        matrices, forces = np.empty((*q.shape, count)), np.empty(q.shape)
        for k in range(len(q)):
            data.SetODE2Coordinates(q[k])
            data.SetODE2Coordinates_t(qd[k])
            solver.ComputeMassMatrix(system)
            solver.ComputeODE2RHS(system)
            matrices[k] = solver.GetSystemMassMatrix()
            forces[k] = solver.GetSystemResidual()[:count]
        return matrices, forces


def add_tree(system: Any, skeleton: Skeleton, gravity: Any) -> Any:
    """Return the tree as one object of minimal coordinates; its number."""
    from exudyn.itemInterface import NodeGenericODE2, ObjectKinematicTree

    bodies, count = skeleton.bodies, skeleton.size
    zero = [0.0] * count
    node = system.AddNode(
        NodeGenericODE2(
            referenceCoordinates=zero, initialCoordinates=zero, initialCoordinates_t=zero, numberOfODE2Coordinates=count
        )
    )
    kinds = {"revolute": exu.JointType.RevoluteZ, "prismatic": exu.JointType.PrismaticZ}
    tree = ObjectKinematicTree(
        nodeNumber=node,
        gravity=list(gravity),
        jointTypes=[kinds[body.kind] for body in bodies],
        linkParents=np.array([body.parent if body.parent != BASE else -1 for body in bodies]),
        jointTransformations=exu.Matrix3DList([body.at.rotation for body in bodies]),
        jointOffsets=exu.Vector3DList([body.at.position for body in bodies]),
        linkInertiasCOM=exu.Matrix3DList([body.tensor for body in bodies]),
        linkCOMs=exu.Vector3DList([body.centre for body in bodies]),
        linkMasses=[body.mass for body in bodies],
    )
    return system.AddObject(tree)


def initialised(system: Any) -> Any:
    """Return the solver of a system, ready to evaluate its equations at given coordinates."""
    settings = _settings()
    settings.timeIntegration.generalizedAlpha.computeInitialAccelerations = False
    solver = exu.MainSolverImplicitSecondOrder()
    solver.InitializeSolver(system, settings)
    return solver


def _settings() -> Any:
    settings = exu.SimulationSettings()
    settings.solution.file.write = False
    settings.timeIntegration.verboseMode = 0
    return settings
