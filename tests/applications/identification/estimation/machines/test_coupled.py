"""Friction that reactions load while it changes them: forces and derivatives against inverse dynamics, and fits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from applications.identification.estimation.machines.choices import Preparation
from applications.identification.estimation.machines.coupled_friction import CoupledFriction, is_coupled, with_inertia
from applications.identification.estimation.machines.fitting import (
    fit_machine,
    identified_robot,
    standard_parameters_of,
    with_coupled_friction,
)
from applications.identification.estimation.machines.machine import RecordedMachine, TangentModel
from applications.identification.estimation.machines.machine_model import MachineModel, nominal
from applications.identification.estimation.machines.preparation import Signals, prepare
from applications.identification.estimation.machines.recorded_motion import actuator_motion
from applications.identification.estimation.states import random_motion
from robots import catalog
from robots.model import Robot
from robots.parameter_errors import ParameterError
from tasks import inverse_dynamics
from tasks.dynamics.inverse import actuator_positions
from tasks.dynamics.records import Forces, Moving
from tasks.features.friction.inputs import friction_input
from tests.applications.identification.estimation.machines.synthetic import STEP

ARMS = {"pin_radius": 0.01, "friction_arm": 0.01, "bending_arm": 0.05}


def friction(coulomb: float = 0.3, viscous: float = 0.002) -> dict[str, object]:
    parameters = {"coulomb": coulomb, "viscous": viscous, **ARMS}
    return {"law": "coulomb_viscous", "joints": "passive", "load": "reaction", **parameters}


def coupled(name: str) -> CoupledFriction:
    robot = catalog.build(name)
    return CoupledFriction(robot, friction_input(robot, friction()))


def plane_motion(robot: Robot, duration: float = 10.0) -> Moving:
    """A Fourier series of a platform that moves in a plane."""
    random, time = np.random.default_rng(4), np.arange(0.0, duration, STEP)[:, None]
    x, xd, xdd = np.zeros((3, len(time), 2))
    for k in range(1, 6):
        omega, (sine, cosine) = 0.4 * np.pi * k, random.normal(size=(2, 2)) * 0.05 / k
        x += sine * np.sin(omega * time) + cosine * np.cos(omega * time)
        xd += omega * (sine * np.cos(omega * time) - cosine * np.sin(omega * time))
        xdd -= omega**2 * (sine * np.sin(omega * time) + cosine * np.cos(omega * time))
    home, zero = np.array(robot.mechanism.platform.home.position), np.zeros((len(time), 6))
    axes = [("wx", "wy", "wz", "vx", "vy", "vz").index(name) for name in robot.mechanism.platform.mobility]
    position, twist, acceleration = np.tile(home, (len(time), 1)), zero.copy(), zero.copy()
    position[:, [axis - 3 for axis in axes]] += x
    twist[:, axes], acceleration[:, axes] = xd, xdd
    return {"position": position, "twist": twist, "acceleration": acceleration}


def test_forces_are_those_of_inverse_dynamics_and_rates_their_differences() -> None:
    model = coupled("five_bar")
    moving = random_motion(model.robot, 40)
    forces, rates = model.linearised(model.nominal, np.eye(len(model.nominal)), moving)
    expected = inverse_dynamics(model.robot, forces=Forces(friction=model.friction), **moving).force
    good = np.isfinite(forces).all(axis=1)
    assert good.mean() > 0.8
    np.testing.assert_allclose(forces[good], expected[good], rtol=1e-9, atol=1e-9 * np.abs(expected[good]).max())

    def at(values: np.ndarray) -> np.ndarray:
        robot, groups = model.at(values)
        return inverse_dynamics(robot, forces=Forces(friction=groups), **moving).force[good]

    for k, unit in enumerate(np.eye(len(model.nominal))):
        step = unit * 1e-5 * max(abs(float(model.nominal[k])), 1e-2)
        change = (at(model.nominal + step) - at(model.nominal - step)) / (2.0 * step[k])
        size = max(float(np.abs(change).max()), 1e-3)
        assert np.median(np.abs(change - rates[good, :, k])) < 1e-6 * size, model.columns[k].name
        assert np.quantile(np.abs(change - rates[good, :, k]), 0.95) < 1e-4 * size, model.columns[k].name


def test_derivatives_times_parameters_and_their_remainder_are_the_forces_away_from_the_nominal_robot() -> None:
    model = coupled("five_bar")
    machine = MachineModel(friction="viscous", joints=friction())
    moving = random_motion(model.robot, 30)
    recorded = RecordedMachine(model.robot, machine, ())
    point = recorded.base.of(nominal(model.robot, machine)) * np.linspace(0.9, 1.1, recorded.base.count)
    tangent = TangentModel(model.robot, machine, model, recorded.base, tuple(point.tolist()))
    actuators = actuator_motion(model.robot, moving)
    matrix, remainder = tangent.rows(moving, actuators)
    whole = recorded.base.reduced(matrix) @ point + remainder
    known = nominal(model.robot, machine)
    kept = list(recorded.base.independent)
    others = np.delete(np.arange(len(known)), kept)
    known[kept] = point - recorded.base.groups[:, others] @ known[others]
    robot, groups = model.at(known[: len(model.columns)])
    expected = (
        inverse_dynamics(robot, forces=Forces(friction=groups), **moving).force
        + machine.beside(robot, actuators) @ known[len(model.columns) :]
    )
    good = np.isfinite(whole).all(axis=1)
    np.testing.assert_allclose(whole[good], expected[good], rtol=1e-9, atol=1e-9)
    assert np.abs(remainder[good]).max() > 1e-3  # else forces were linear


@pytest.mark.parametrize("coulomb", [0.1, 0.3])
def test_friction_loaded_by_reactions_is_identified(coulomb: float) -> None:
    robot = catalog.build("five_bar")
    moving = plane_motion(robot)
    forces = inverse_dynamics(robot, forces=Forces(friction=friction(coulomb)), **moving).force
    without = inverse_dynamics(robot, **moving).force
    assert np.linalg.norm(forces - without) > 0.005 * np.linalg.norm(forces)
    noise = np.random.default_rng(5).normal(size=forces.shape) * 0.01 * np.sqrt(np.mean(forces**2))
    time = np.arange(len(forces)) * STEP
    signals = Signals("run", "train", time, actuator_positions(robot, **moving).position, forces + noise)
    model = MachineModel(friction="none", offset=False, joints=friction(0.2, 0.0))
    recording = prepare(signals, Preparation(cutoff=10.0, rest=0.0))
    machine = with_coupled_friction(RecordedMachine(robot, model, (recording,)))
    fit = fit_machine(machine)
    truth = machine.base.of(nominal(robot, replace(model, joints=friction(coulomb))))[list(fit.kept)]
    scores = (fit.values - truth) / fit.deviations
    assert np.square(scores).mean() < 2.5
    found = dict(zip(fit.names, zip(fit.values, fit.deviations, strict=True), strict=True))
    value, deviation = found["friction.coulomb"]
    assert abs(value - coulomb) < 3.0 * deviation
    assert deviation < 0.2 * coulomb
    standard = standard_parameters_of(machine, fit)
    assert standard.converged
    assert identified_robot(machine, standard).template.platform.mobility == robot.mechanism.platform.mobility


def test_inertia_that_is_put_in_comes_out() -> None:
    robot = catalog.build("delta_3rr2rrr")
    model = coupled("delta_3rr2rrr")
    again = with_inertia(robot, model.nominal[:-2].tolist())
    links = [
        (a, b)
        for x, y in zip(again.limbs, robot.mechanism.limbs, strict=True)
        for a, b in zip(x.links, y.links, strict=True)
    ]
    for own, expected in links:
        np.testing.assert_allclose(own.inertia.mass, expected.inertia.mass)
        np.testing.assert_allclose(own.inertia.centre, expected.inertia.centre, atol=1e-15)
        np.testing.assert_allclose(own.inertia.tensor, expected.inertia.tensor, atol=1e-15)


def test_limbs_that_do_not_share_are_refused() -> None:
    robot = catalog.build("five_bar")
    assert is_coupled(robot, friction())
    assert not is_coupled(robot, {"law": "coulomb_viscous", "joints": "passive"})
    with pytest.raises(
        ParameterError, match="shared: got limbs with parameters of their own and friction that reactions"
    ):
        MachineModel(joints=friction(), shared=False).columns(robot)
