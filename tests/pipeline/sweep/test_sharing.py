"""More actuators than freedoms: weights, preload and least maxima in sweeps, against solvers of NumPy and SciPy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray
from scipy.optimize import linprog

from applications.identification.recordings import refuse_unmodelled
from pipeline import Sweep, run
from pipeline.errors import InputError
from robots.status import Status
from storage.errors import StoreError
from tasks.mechanics import assembly
from tests.pipeline.runs import SYNCHRONOUS, content_hash, cut_finely

TEXT = """\
limbsweep: 1
robot: delta_4rr2rrr
trajectories: {circle: {kind: circle, radius: 0.1, period: 0.7}}
time: {stop: 0.9, step: 0.1}
outputs: [actuator_force, inverse_jacobian]
metrics: [peak_force]
"""
WEIGHTS = np.array([1.0, 1.0, 4.0, 0.5])
SPOKEN = "weights: {'*': 1}"


def forces(text: str = "") -> tuple[np.ndarray, np.ndarray, xarray.Dataset]:
    """Forces (time, actuator), J_IK (time, actuator, freedom) and the case of a sweep with a section."""
    part = run(Sweep.from_text(TEXT + text), cluster=SYNCHRONOUS).isel(
        design=0, trajectory=0, friction=0, missing_dims="ignore"
    )
    return part["actuator_force"].values, part["inverse_jacobian"].values, part


def section(names: list[str], **parts: np.ndarray) -> str:
    said = [
        f"{key}: {{{', '.join(f'{n}: {x}' for n, x in zip(names, row, strict=True))}}}" for key, row in parts.items()
    ]
    return f"sharing: {{{', '.join(said)}}}\n"


@pytest.fixture(scope="module")
def even() -> tuple[np.ndarray, np.ndarray, xarray.Dataset]:
    return forces()


def test_weights_and_preload_are_least_squares(even: tuple[np.ndarray, np.ndarray, xarray.Dataset]) -> None:
    force, jacobian, part = even
    names, preload = [str(name) for name in part["actuator"].values], np.array([2.0, -1.0, 2.0, 0.0])
    weighted, _, _ = forces(section(names, weights=WEIGHTS))
    pulled, _, _ = forces(section(names, weights=WEIGHTS, preload=preload))
    alike, _, _ = forces(f"sharing: {{{SPOKEN}}}\n")
    np.testing.assert_array_equal(alike, force)
    root = np.sqrt(WEIGHTS)
    for k, rows in enumerate(jacobian):
        wrench = rows.T @ force[k]
        for found, wished in ((weighted[k], 0.0 * preload), (pulled[k], preload)):
            np.testing.assert_allclose(rows.T @ found, wrench, rtol=0, atol=1e-11 * np.abs(wrench).max())
            expected = np.linalg.lstsq(rows.T / root, wrench - rows.T @ wished, rcond=None)[0] / root + wished
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11 * np.abs(force).max())
    assert np.abs(pulled - weighted).max() > 0.1


def test_the_least_maximum_is_that_of_a_linear_programme(
    even: tuple[np.ndarray, np.ndarray, xarray.Dataset],
) -> None:
    force, jacobian, part = even
    names = [str(name) for name in part["actuator"].values]
    found, _, least = forces(section(names, weights=WEIGHTS).replace("{weights", "{rule: least_maximum, weights"))
    for k, rows in enumerate(jacobian):
        sides = np.vstack([np.c_[np.diag(sign * WEIGHTS), -np.ones(4)] for sign in (1.0, -1.0)])
        solved = linprog(
            [0.0] * 4 + [1.0], sides, np.zeros(8), np.c_[rows.T, np.zeros(3)], rows.T @ force[k], bounds=(None, None)
        )
        assert abs((WEIGHTS * np.abs(found[k])).max() - solved.fun) < 1e-9 * solved.fun
        np.testing.assert_allclose(rows.T @ found[k], rows.T @ force[k], rtol=0, atol=1e-11 * np.abs(force).max())
        assert (WEIGHTS * np.abs(found[k])).max() <= (WEIGHTS * np.abs(force[k])).max() * (1 + 1e-12)
    np.testing.assert_array_equal(least["peak_force"], np.abs(found).max(axis=0))


DELTA = Path(__file__).parents[3] / "examples" / "robots" / "delta.yaml"


def delta_of(limbs: int) -> str:
    """A Delta of a robot file with so many limbs around its axis."""
    head, rest = DELTA.read_text().split("instances:\n")
    turns = [f"{{turn: {{z: {360 * k / limbs}}}}}" for k in range(limbs)]
    lines = [f'  limb{k + 1}: {{limb: "RR[2RR]R", base: {turn}, platform: {turn}}}\n' for k, turn in enumerate(turns)]
    return f"{head}instances:\n{''.join(lines)}\nplatform:\n{rest.partition(chr(10) + 'platform:' + chr(10))[2]}"


def test_the_least_maximum_of_two_spare_actuators(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compare with a linear programme, with zero, one and two of five actuators off; bits do not depend on blocks."""
    (tmp_path / "delta.yaml").write_text(delta_of(5))
    text = TEXT.replace("delta_4rr2rrr", "./delta.yaml") + "design: {grid: {platform_mass: [0.5, 2]}}\n"
    weights = np.array([1.0, 2.0, 1.0, 0.5, 1.0])
    off = "off: {limb2.1: [[0.25, 0.65]], limb5.1: [[0.45, 0.65]]}"
    sharing = section([f"limb{k + 1}.1" for k in range(5)], weights=weights)
    sharing = sharing.replace("{weights", f"{{rule: least_maximum, {off}, weights")
    sweep = Sweep.from_text(text + sharing, folder=tmp_path)
    results = run(sweep, cluster=SYNCHRONOUS)
    even = run(Sweep.from_text(text, folder=tmp_path), cluster=SYNCHRONOUS)
    part, plain = (each.isel(design=1, trajectory=0, friction=0, missing_dims="ignore") for each in (results, even))
    counts = set()
    for k, t in enumerate(part["time"].values):
        force, rows = part["actuator_force"].values[k], part["inverse_jacobian"].values[k]
        on = np.array([True, not 0.25 <= t < 0.65, True, True, not 0.45 <= t < 0.65])
        sides = np.vstack([np.c_[np.diag(sign * weights[on]), -np.ones(on.sum())] for sign in (1.0, -1.0)])
        wrench = rows.T @ plain["actuator_force"].values[k]
        np.testing.assert_allclose(rows.T @ force, wrench, rtol=0, atol=1e-10 * np.abs(wrench).max())
        solved = linprog(
            [0.0] * on.sum() + [1.0], sides, np.zeros(2 * on.sum()), np.c_[rows[on].T, np.zeros(3)], wrench,
            bounds=(None, None),
        )  # fmt: skip
        assert abs((weights * np.abs(force)).max() - solved.fun) < 1e-9 * solved.fun
        assert not force[~on].any()
        counts.add(int(on.sum()))
    assert counts == {3, 4, 5}
    cut_finely(monkeypatch, small=10)
    assert content_hash(run(sweep, cluster=SYNCHRONOUS)) == content_hash(results)


def test_actuators_that_are_off_leave_all_to_the_others(even: tuple[np.ndarray, np.ndarray, xarray.Dataset]) -> None:
    force, jacobian, part = even
    names, times = [str(name) for name in part["actuator"].values], part["time"].values
    off = f"off: {{{names[3]}: [[0.0, 0.2], [0.5, 0.9]], {names[0]}: [[0.2, 0.4]]}}"
    active = np.ones(force.shape, dtype=bool)
    active[(times < 0.2 - 1e-9) | ((times > 0.5 - 1e-9) & (times < 0.9 - 1e-9)), 3] = False
    active[(times > 0.2 - 1e-9) & (times < 0.4 - 1e-9), 0] = False
    assert sorted(active.sum(axis=1)) == [3] * 8 + [4] * 2
    found, _, _ = forces(f"sharing: {{{off}}}\n")
    root = np.sqrt(WEIGHTS)
    weights = f"weights: {{{', '.join(f'{n}: {w}' for n, w in zip(names, WEIGHTS, strict=True))}}}"
    weighted, _, _ = forces(f"sharing: {{{weights}, preload: {{all: 1.5}}, {off}}}\n")
    least, _, _ = forces(f"sharing: {{rule: least_maximum, {off}}}\n")
    smallest, _, _ = forces("sharing: {rule: least_maximum}\n")
    for k, rows in enumerate(jacobian):
        wrench, on = rows.T @ force[k], active[k]
        wished = 1.5 * on
        expected = np.linalg.lstsq((rows.T / root)[:, on], wrench - rows.T @ wished, rcond=None)[0] / root[on]
        alone = np.linalg.lstsq(rows.T[:, on], wrench, rcond=None)[0]
        fewest = smallest[k] if on.all() else alone
        for mine, theirs in ((weighted[k], expected + 1.5), (found[k], alone), (least[k], fewest)):
            np.testing.assert_allclose(mine[on], theirs, rtol=0, atol=1e-11 * np.abs(force).max())
            assert not mine[~on].any()


def test_a_platform_that_those_that_are_on_cannot_hold_has_a_status() -> None:
    rows, weights = np.array([[1.0, 0.0], [0.5, 1.0], [2.0, 0.0]]), np.array([1.0, np.inf, 1.0])
    home = assembly.Reference(rows, [False, False])
    with np.errstate(all="ignore"):
        for numbers, expected in ((weights, Status.PLATFORM_SINGULAR), (weights[::-1][[1, 0, 2]], Status.OK)):
            acting = assembly.acting_rows(rows, numbers)
            forces = assembly.actuator_forces(rows, np.array([1.0, 0.0]), numbers)
            assert assembly.combined_status([0.0], acting, forces, home=home) == expected


def test_friction_of_passive_joints_is_overcome_by_those_that_are_on() -> None:
    friction = "friction: {law: viscous, joints: passive, parameters: {viscous: 0.3}}\n"
    bare, _, _ = forces()
    even, jacobian, part = forces(friction)
    found, _, _ = forces(f"{friction}sharing: {{off: {{{part['actuator'].values[1]}: [[0, 2]]}}}}\n")
    assert not found[:, 1].any()
    assert np.abs(even - bare).max() > 0.05
    apart = np.einsum("taf,ta->tf", jacobian, found - even)
    assert np.abs(apart).max() < 1e-11 * np.abs(even).max()


@pytest.mark.parametrize(
    ("robot", "text", "message"),
    [
        ("delta_4rr2rrr", "sharing: {off: {elbow: [[0, 1]]}}", "No actuator is called 'elbow'"),
        ("delta_4rr2rrr", "sharing: {off: {limb1.1: [[1, 0.5]]}}", "expected two times, the first from 0 and before"),
        ("delta_4rr2rrr", "sharing: {off: {limb1.1: [[0.5]]}}", "off.limb1.1"),
        (
            "delta_4rr2rrr",
            "sharing: {off: {limb1.1: [[0, 0.5]], limb2.1: [[0.4, 0.6]]}}",
            "sharing.off: got 2 actuators off at once; expected at most 1",
        ),
        (
            "delta_4rr2rrr",
            "sharing: {off: {limb1.1: [[0, 0.5]]}}\nfriction: {law: viscous}",
            "sharing.off: got friction in an actuator that is off",
        ),
        ("five_bar", "sharing: {rule: least_maximum}", "sharing: got a robot with 2 actuators for as many freedoms"),
        ("delta_4rr2rrr", "sharing: {weights: {elbow: 2}}", "No actuator is called 'elbow'"),
        ("delta_4rr2rrr", "sharing: {weights: {all: 2, '*': 1}}", "actuators that no other key selects"),
        ("delta_4rr2rrr", "sharing: {weights: {all: 0}}", "weights.all: got 0"),
        ("delta_4rr2rrr", "sharing: {rule: fair}", "sharing.rule: got 'fair'"),
        (
            "delta_4rr2rrr",
            "sharing: {rule: least_maximum, preload: {all: 1}}",
            "sharing.rule: got least_maximum with a preload",
        ),
        (
            "delta_4rr2rrr",
            "sharing: {rule: least_maximum}\nfriction: {law: viscous, joints: passive}",
            "sharing.rule: got least_maximum with friction in passive joints",
        ),
    ],
)
def test_what_cannot_be_shared_is_refused(robot: str, text: str, message: str) -> None:
    with pytest.raises(InputError, match="(?s).*" + message.replace("{", "\\{")):
        Sweep.from_text(TEXT.replace("delta_4rr2rrr", robot) + text)


def test_a_least_maximum_with_too_many_corners_is_refused(tmp_path: Path) -> None:
    (tmp_path / "delta.yaml").write_text(delta_of(9))
    text = TEXT.replace("delta_4rr2rrr", "./delta.yaml") + "sharing: {rule: least_maximum}\n"
    with pytest.raises(InputError, match="got least_maximum with 6 spare actuators, 2,304 corners of 1,000 at most"):
        Sweep.from_text(text, folder=tmp_path)


def test_recordings_of_forces_shared_in_another_way_are_not_fitted() -> None:
    sweep = Sweep.from_text(TEXT + "sharing: {preload: {all: 1}}")
    with pytest.raises(StoreError, match="the section sharing says how actuators share forces, and regressors"):
        refuse_unmodelled(sweep, "s.zarr")
