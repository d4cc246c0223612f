"""Payloads of recordings, known and unknown, and gains of drives, on a machine whose truth is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from applications.identification.estimation.machines.choices import Preparation
from applications.identification.estimation.machines.fitting import fit_machine, with_gains
from applications.identification.estimation.machines.machine import Payload, RecordedMachine
from applications.identification.estimation.machines.machine_model import MachineModel, nominal
from applications.identification.estimation.machines.preparation import Prepared, Signals, prepare
from robots import catalog
from robots.model import Inertia
from robots.parameters import ParameterError
from tasks import inverse_dynamics
from tasks.dynamics.records import Forces
from tasks.dynamics.regressor import body_parameters, regressor
from tests.applications.identification.estimation.machines.synthetic import FRICTION, STEP, series

BODY = "link_3"
LOAD = tuple(body_parameters(Inertia(2.0, (0.1, 0.02, 0.0), ((0.01, 0, 0), (0, 0.02, 0), (0, 0, 0.03)))).tolist())
FACTORS = np.array([1.25, 0.8, 1.1])


def recording(name: str, seed: int, load: tuple[float, ...] | None, factors: np.ndarray | float = 1.0) -> Prepared:
    """A recording whose forces are what drives give over their factors."""
    robot = catalog.build("planar_3r")
    time, q, qd, qdd = series(3, 10.0, seed)
    forces = inverse_dynamics(robot, q=q, qd=qd, qdd=qdd, forces=Forces(friction=FRICTION)).force
    if load is not None:
        result = regressor(robot, q=q, qd=qd, qdd=qdd)
        own = [k for k, column in enumerate(result.columns) if column.owner == BODY]
        forces = forces + result.matrix[:, :, own] @ np.array(load)
    noise = np.random.default_rng([seed, 4]).normal(size=forces.shape) * 0.05
    assert time[1] == STEP
    return prepare(Signals(name, "train", time, q, forces / factors + noise), Preparation(cutoff=10.0, rest=0.0))


def machine(second: Payload | None, factors: np.ndarray | float = 1.0) -> RecordedMachine:
    recordings = (recording("bare", 1, None, factors), recording("loaded", 2, LOAD, factors))
    payloads = (None, second) if second is not None else ()
    return RecordedMachine(catalog.build("planar_3r"), MachineModel(), recordings, payloads=payloads)


def truth(of: RecordedMachine, load: bool) -> np.ndarray:
    known = dict(zip((c.name for c in of.columns), nominal(of.robot, of.model), strict=False))
    for name in of.robot.mechanism.actuators:
        known |= {f"{name}.{key}": FRICTION[key] for key in ("coulomb", "viscous")}
    return of.base.of([*known.values(), *(LOAD if load else ())])


def test_a_known_payload_takes_its_forces() -> None:
    loaded = machine(Payload("weight", BODY, LOAD))
    fit = fit_machine(loaded)
    assert np.square((fit.values - truth(loaded, False)) / fit.deviations).mean() < 2.5
    assert fit.errors["loaded"] < 0.02
    assert fit_machine(machine(None)).errors["loaded"] > 2.0 * fit.errors["loaded"]


def test_an_unknown_payload_is_found_beside_the_machine() -> None:
    unknown = machine(Payload("tool", BODY))
    fit = fit_machine(unknown)
    assert np.square((fit.values - truth(unknown, True)) / fit.deviations).mean() < 2.5
    found = dict(zip(fit.names, zip(fit.values, fit.deviations, strict=True), strict=True))
    own = {name: pair for name, pair in found.items() if name.startswith("tool.")}
    assert own
    value, deviation = own["tool.mx"]
    assert abs(value - LOAD[1]) < 4.0 * deviation < 0.2


def test_gains_of_drives_are_told_by_a_known_payload() -> None:
    gains = with_gains(machine(Payload("weight", BODY, LOAD), FACTORS))
    assert (np.abs(gains.factors - FACTORS) < 4.0 * gains.deviations).all()
    assert (gains.deviations < 0.05 * FACTORS).all()
    scores = (gains.fit.values - truth(gains.machine, False)) / gains.fit.deviations
    assert np.square(scores).mean() < 2.5


def test_gains_without_a_known_payload_are_refused() -> None:
    with pytest.raises(ParameterError, match="gains: no recording for training has a known payload"):
        with_gains(machine(Payload("tool", BODY)))
    with pytest.raises(ParameterError, match="payload: got the body 'link_9'; expected one with inertia; did you mean"):
        fit_machine(machine(Payload("tool", "link_9", LOAD)))
    friction = {"law": "coulomb_viscous", "joints": "passive", "load": "reaction"}
    robot = catalog.build("five_bar")
    coupled = RecordedMachine(robot, MachineModel(joints=friction), (recording("bare", 1, None),), payloads=(None,))
    with pytest.raises(ParameterError, match="payload: got one and friction that reactions load"):
        replace(coupled).runs  # noqa: B018
