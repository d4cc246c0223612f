"""Every check and every judgement under every variant of the model: payloads, friction, gains, copies, controllers."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from itertools import cycle, islice, product

import numpy as np
import pytest

from applications.identification.estimation.machines.checks.hypotheses import check_machine
from applications.identification.estimation.machines.choices import LAWS, Preparation
from applications.identification.estimation.machines.fitting import (
    fit_machine,
    identified_robot,
    standard_parameters_of,
)
from applications.identification.estimation.machines.gains import with_gains
from applications.identification.estimation.machines.judgement import judged, warnings
from applications.identification.estimation.machines.machine import RecordedMachine
from applications.identification.estimation.machines.machine_model import MachineModel, OwnColumn
from applications.identification.estimation.machines.payload import Payload, payload_bodies
from applications.identification.estimation.machines.preparation import Prepared, Signals, prepare
from applications.identification.estimation.machines.stribeck import with_stribeck
from robots import catalog
from robots.model import Inertia
from tasks.dynamics.inertial_parameters import body_parameters
from tasks.dynamics.regressor import regressor
from tests.applications.identification.estimation.machines.synthetic import chain

ROBOT = catalog.build("planar_3r")
BODY = "link_3"
LOAD = tuple(body_parameters(Inertia(2.0, (0.1, 0.02, 0.0), ((0.01, 0, 0), (0, 0.02, 0), (0, 0, 0.03)))).tolist())
PAYLOADS = {
    "none": (),
    "known": (None, Payload("weight", BODY, LOAD)),
    "unknown": (None, Payload("tool", BODY)),
    "unknown in both": (Payload("tool", BODY), Payload("tool", BODY)),
    "known and unknown": (Payload("weight", BODY, LOAD), Payload("tool", BODY)),
}
OWN = OwnColumn("cable", 1, "N m", lambda motion: np.cos(motion[0][:, 1]))
MODELS = {law: MachineModel(friction=law) for law in LAWS} | {
    "own": MachineModel(own=(OWN,)),
    "no offset": MachineModel(offset=False),
    "coupled drives": MachineModel(drives=np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 1.0, 1.0]])),
}


def signals(seed: int, is_loaded: bool) -> Signals:
    """A recording of the chain with friction and offset, and with the load where it is loaded."""
    recorded = replace(chain(ROBOT, seed=seed, duration=8.0), name=f"run_{seed}")
    if not is_loaded:
        return recorded
    rates = [np.gradient(recorded.position, recorded.time, axis=0, edge_order=2)]
    rates.append(np.gradient(rates[0], recorded.time, axis=0, edge_order=2))
    result = regressor(ROBOT, q=recorded.position, qd=rates[0], qdd=rates[1])
    places = [k for k, column in enumerate(result.columns) if column.owner == BODY]
    return replace(recorded, force=recorded.force + result.matrix[:, :, places] @ np.array(LOAD))


SIGNALS = {(seed, loaded): signals(seed, loaded) for seed in (1, 2) for loaded in (False, True)}


def machine(
    payloads: tuple[Payload | None, ...], model: MachineModel, signs: tuple[float, ...] = (1.0, 1.0, 1.0)
) -> RecordedMachine:
    """The chain with two recordings, the forces of the second with these signs."""
    loaded = [payload is not None for payload in payloads] or [False, False]
    first, second = SIGNALS[1, loaded[0]], SIGNALS[2, loaded[1]]
    recordings = [prepared(first), prepared(replace(second, force=second.force * signs))]
    return RecordedMachine(ROBOT, model, tuple(recordings), payloads=payloads)


def prepared(recorded: Signals) -> Prepared:
    return prepare(recorded, Preparation(cutoff=10.0, rest=0.0))


def variants(laws: Collection[str]) -> pytest.MarkDecorator:
    """Every payload with every law: each of both in every run of the tests, all pairs by `-m slow`."""
    always = set(islice(zip(cycle(PAYLOADS), cycle(laws), strict=True), max(len(PAYLOADS), len(laws))))
    pairs = product(PAYLOADS, laws)
    return pytest.mark.parametrize(
        ("payload", "law"), [pytest.param(*pair, marks=() if pair in always else pytest.mark.slow) for pair in pairs]
    )


@variants(MODELS)
def test_every_check_runs_and_finds_a_turned_sign_under_every_variant(payload: str, law: str) -> None:
    sound = machine(PAYLOADS[payload], MODELS[law])
    assert not [finding for finding in check_machine(sound) if finding.is_error]
    turned = machine(PAYLOADS[payload], MODELS[law], (1.0, -1.0, 1.0))
    found = [finding for finding in check_machine(turned) if finding.is_error]
    said = {(finding.recording, finding.actuator) for finding in found}
    # forces with friction leave a model without it so much that a turned sign is no better
    assert said <= {("run_2", "joint_2")} if law == "none" else said == {("run_2", "joint_2")}


@variants(["coulomb_viscous", "stribeck", "own"])
def test_every_judgement_runs_under_every_variant(payload: str, law: str) -> None:
    sound = machine(PAYLOADS[payload], MODELS[law])
    if law == "stribeck":
        sound = with_stribeck(sound, "weighted")
    fit = judged(sound, fit_machine(sound))
    standard = standard_parameters_of(sound, fit)
    assert standard.converged
    said = warnings(sound, fit, standard)
    assert not any("are not explained" in text or "of no machine" in text for text in said)
    assert max(fit.errors.values()) < 0.03
    assert len(standard.values) == len(sound.columns) == len(sound.nominal)
    assert identified_robot(sound, standard).name == ROBOT.name


def test_gains_with_a_known_and_an_unknown_payload() -> None:
    bare, weighed, unknown = SIGNALS[1, False], SIGNALS[2, True], replace(SIGNALS[1, True], name="tool")
    recordings = tuple(prepared(recorded) for recorded in (bare, weighed, unknown))
    payloads = (None, *PAYLOADS["known and unknown"])
    gains = with_gains(RecordedMachine(ROBOT, MachineModel(), recordings, payloads=payloads))
    assert np.abs(gains.factors - 1.0).max() < 0.05
    names = [column.name for column in gains.machine.columns]
    values = dict(zip(names, standard_parameters_of(gains.machine, gains.fit).values, strict=True))
    assert values["tool.mx"] == pytest.approx(LOAD[1], rel=0.2)


def test_the_columns_beside_bodies_are_friction_offsets_and_own_ones() -> None:
    loaded = machine(PAYLOADS["unknown"], MODELS["own"])
    names = [column.name for column in loaded.columns[loaded.beside]]
    assert names[:3] == ["joint_1.coulomb", "joint_1.viscous", "joint_1.offset"]
    assert names[-1] == "joint_2.cable"
    assert {column.owner for column in loaded.columns[loaded.payload_columns]} == {"tool"}


def test_payloads_are_fixed_to_bodies_without_copies() -> None:
    assert payload_bodies(ROBOT) == ("link_1", "link_2", "link_3")
    assert payload_bodies(catalog.build("delta_3rr2rrr")) == ("platform",)
