"""Payloads of recordings, known and unknown, and gains of drives, on a machine whose truth is known."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from applications.identification.estimation.machines.checks.hypotheses import check_machine
from applications.identification.estimation.machines.choices import BodyPrior, Preparation
from applications.identification.estimation.machines.fitting import fit_machine, standard_parameters_of
from applications.identification.estimation.machines.gains import with_gains
from applications.identification.estimation.machines.judgement import answers, judged, lacking
from applications.identification.estimation.machines.machine import RecordedMachine
from applications.identification.estimation.machines.machine_model import MachineModel, nominal
from applications.identification.estimation.machines.payload import Payload
from applications.identification.estimation.machines.preparation import Prepared, Signals, filtered_motion, prepare
from robots import catalog
from robots.model import Inertia
from robots.parameter_errors import ParameterError
from tasks import inverse_dynamics
from tasks.dynamics.inertial_parameters import body_parameters
from tasks.dynamics.records import Forces
from tasks.dynamics.regressor import regressor
from tests.applications.identification.estimation.machines.synthetic import FRICTION, STEP, series

BODY = "link_3"
LOAD = tuple(body_parameters(Inertia(2.0, (0.1, 0.02, 0.0), ((0.01, 0, 0), (0, 0.02, 0), (0, 0, 0.03)))).tolist())
FACTORS = np.array([1.25, 0.8, 1.1])
PAIRS = 8
"""Machines whose errors are counted in deviations: of one, 18 parameters are as good as 8 that are independent."""
USUAL = (0.6, 1.6)
"""Mean square of errors over deviations: 1 +- 0.18 by chance over the machines, 0.8 to 1.3 over six times as many."""


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


def machine(second: Payload | None, factors: np.ndarray | float = 1.0, pair: int = 0) -> RecordedMachine:
    first = 2 * pair + 1
    recordings = (recording("bare", first, None, factors), recording("loaded", first + 1, LOAD, factors))
    payloads = (None, second) if second is not None else ()
    return RecordedMachine(catalog.build("planar_3r"), MachineModel(), recordings, payloads=payloads)


def truth(of: RecordedMachine, load: bool) -> np.ndarray:
    known = dict(zip((c.name for c in of.columns), nominal(of.robot, of.model), strict=False))
    for name in of.robot.mechanism.actuators:
        known |= {f"{name}.{key}": FRICTION[key] for key in ("coulomb", "viscous")}
    return of.base.of([*known.values(), *(LOAD if load else ())])


@pytest.mark.parametrize("payload", [Payload("weight", BODY, LOAD), Payload("tool", BODY)], ids=["known", "unknown"])
def test_deviations_are_as_large_as_errors(payload: Payload) -> None:
    scores = []
    for pair in range(PAIRS):
        each = machine(payload, pair=pair)
        fit = fit_machine(each)
        scores.append((fit.values - truth(each, payload.values is None)) / fit.deviations)
    assert USUAL[0] < np.square(scores).mean() < USUAL[1]
    assert np.abs(scores).max() < 4.5


def test_deviations_of_gains_are_as_large_as_errors() -> None:
    scores, scores_of_gains = [], []
    for pair in range(PAIRS):
        gains = with_gains(machine(Payload("weight", BODY, LOAD), FACTORS, pair))
        scores.append((gains.fit.values - truth(gains.machine, False)) / gains.fit.deviations)
        scores_of_gains.append((gains.factors - FACTORS) / gains.deviations)
    assert USUAL[0] < np.square(scores).mean() < USUAL[1]
    # 24 numbers: 1 +- 0.3 by chance
    assert np.square(scores_of_gains).mean() < 1.9
    assert np.abs(scores_of_gains).max() < 4.0


def test_gains_do_not_depend_on_the_unit_of_forces() -> None:
    first = with_gains(machine(Payload("weight", BODY, LOAD), FACTORS))
    currents = with_gains(machine(Payload("weight", BODY, LOAD), FACTORS).with_gains(np.array([3.0, 0.2, 1.0])))
    np.testing.assert_allclose(currents.factors * [3.0, 0.2, 1.0], first.factors, rtol=1e-5)
    np.testing.assert_allclose(currents.deviations * [3.0, 0.2, 1.0], first.deviations, rtol=1e-3)
    np.testing.assert_allclose(currents.fit.values, first.fit.values, rtol=0, atol=0.02 * first.fit.deviations.min())


def test_a_machine_with_gains_is_that_of_recordings_with_other_forces() -> None:
    plain = machine(Payload("weight", BODY, LOAD))
    fast = plain.with_gains(FACTORS)
    slow = replace(plain, recordings=tuple(each.with_gains(FACTORS) for each in plain.recordings))
    for run, other in zip(fast.runs, slow.runs, strict=True):
        np.testing.assert_allclose(run.forces, other.forces, rtol=1e-10, atol=1e-10)
        np.testing.assert_array_equal(run.matrix, other.matrix)
    assert fast.recordings[0].uniform is not None
    again = filtered_motion(fast.recordings[0].uniform, fast.recordings[0].used)
    np.testing.assert_allclose(again.force, fast.recordings[0].force, rtol=1e-12)


def test_a_known_payload_takes_its_forces() -> None:
    loaded = machine(Payload("weight", BODY, LOAD))
    fit = fit_machine(loaded)
    assert fit.errors["loaded"] < 0.02
    assert fit_machine(machine(None)).errors["loaded"] > 2.0 * fit.errors["loaded"]


def test_an_unknown_payload_is_found_beside_the_machine() -> None:
    unknown = machine(Payload("tool", BODY))
    fit = fit_machine(unknown)
    found = dict(zip(fit.names, zip(fit.values, fit.deviations, strict=True), strict=True))
    own = {name: pair for name, pair in found.items() if name.startswith("tool.")}
    assert own
    value, deviation = own["tool.mx"]
    assert abs(value - LOAD[1]) < 4.0 * deviation < 0.2


def test_gains_of_drives_are_told_by_a_known_payload() -> None:
    gains = with_gains(machine(Payload("weight", BODY, LOAD), FACTORS))
    assert (np.abs(gains.factors - FACTORS) < 4.0 * gains.deviations).all()
    assert (gains.deviations < 0.05 * FACTORS).all()


def test_of_a_payload_the_mass_alone_may_be_known() -> None:
    scores = []
    for pair in range(PAIRS):
        each = machine(Payload("tool", BODY, mass=LOAD[0]), pair=pair)
        fit = fit_machine(each)
        assert not any("tool.mass" in name for name in fit.names)
        scores.append((fit.values - truth(each, True)) / fit.deviations)
    assert USUAL[0] < np.square(scores).mean() < USUAL[1]
    standard = standard_parameters_of(each, fit, BodyPrior(weight=10.0))
    found = dict(zip((column.name for column in each.columns), standard.values.tolist(), strict=True))
    assert found["tool.mass"] == pytest.approx(LOAD[0], rel=1e-6)
    assert found["tool.mx"] == pytest.approx(LOAD[1], abs=0.05)


@pytest.mark.parametrize("is_whole", [True, False], ids=["known", "mass known"])
def test_a_wrong_mass_of_a_payload_is_named(is_whole: bool) -> None:
    told: dict[float, list[list[str]]] = {1.0: [], 1.25: [], 0.8: []}
    for factor, texts in told.items():
        said = tuple(value * factor for value in LOAD)
        payload = Payload("tool", BODY, said) if is_whole else Payload("tool", BODY, mass=said[0])
        for pair in range(PAIRS if factor == 1.0 else 2):
            each = machine(payload, pair=pair)
            found = lacking(judged(each, fit_machine(each)))
            texts.append([text for text in found if "payload" in text])
    assert not any(told[1.0])
    for factor, way in ((1.25, r"(19|20)\.\d% \+- 0\.\d% lighter"), (0.8, r"(24|25)\.\d% \+- 0\.\d% heavier")):
        assert all(any(re.match(f"payload of loaded looks {way} than said", text) for text in t) for t in told[factor])


def loads_told(loads: list[tuple[float, ...] | None], payloads: tuple[Payload | None, ...]) -> list[str]:
    recordings = tuple(recording(f"run {k}", k + 1, load) for k, load in enumerate(loads))
    each = RecordedMachine(catalog.build("planar_3r"), MachineModel(), recordings, payloads=payloads)
    return [text.split(" are ")[0] for text in lacking(judged(each, fit_machine(each))) if "another load" in text]


def test_a_load_that_nobody_said_is_named_and_no_other() -> None:
    assert loads_told([None, None, None], ()) == []
    assert loads_told([None, LOAD], ()) == ["forces of run 1"]
    heavy = tuple(1.3 * value for value in LOAD)
    tool = Payload("tool", BODY)
    assert loads_told([None, LOAD, LOAD], (None, tool, tool)) == []
    assert "forces of run 2" in loads_told([None, LOAD, heavy], (None, tool, tool))
    # which of the recordings carries more than was said is told once, by its mass
    assert loads_told([None, LOAD], (None, Payload("tool", BODY, heavy))) == []


def test_a_payload_that_is_said_too_heavy_is_no_error_of_signs() -> None:
    payload = Payload("tool", BODY, tuple(4.0 * value for value in LOAD))
    found = [finding for finding in check_machine(machine(payload)) if finding.kind == "sign"]
    assert found
    assert not any(finding.is_error for finding in found)
    assert "payload that was said is too heavy" in str(found[0])


def test_a_payload_that_is_in_all_recordings_has_no_mass_of_its_own() -> None:
    loaded = (recording("one", 1, LOAD), recording("two", 2, LOAD))
    payload = Payload("tool", BODY, tuple(2.0 * value for value in LOAD))
    each = RecordedMachine(catalog.build("planar_3r"), MachineModel(), loaded, payloads=(payload, payload))
    fit = judged(each, fit_machine(each))
    assert not any("payload" in text for text in lacking(fit))
    assert ("payload of one, two is as heavy as said", "yes", 1.0) in answers(each, fit)


def test_gains_of_drives_are_told_by_a_known_mass() -> None:
    gains = with_gains(machine(Payload("tool", BODY, mass=LOAD[0]), FACTORS))
    assert (np.abs(gains.factors - FACTORS) < 4.0 * gains.deviations).all()
    assert (gains.deviations < 0.2 * FACTORS).all()


def test_gains_and_a_known_payload_are_told_from_each_other_by_its_mass_alone() -> None:
    gains = with_gains(machine(Payload("weight", BODY, tuple(1.25 * value for value in LOAD)), FACTORS))
    np.testing.assert_allclose(gains.factors, 1.25 * FACTORS, rtol=0.05)
    assert not any("payload" in text for text in lacking(judged(gains.machine, gains.fit)))


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
