"""Sweeps of simulations as any others: dims, resuming, lazy arrays, more designs, what `check` prints, reports."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import limbsweep as ls
from applications.commands.cli import cli
from applications.report.data import recomputed, series
from applications.report.data.recomputed import results_of
from applications.studies.axes import by_design
from pipeline import UserMetric, append, compute, lazy, run, verify
from pipeline.errors import InputError
from pipeline.execution.blocks import block_of
from pipeline.execution.processes import isolation
from pipeline.execution.work import computed
from pipeline.monitor.log import BlockDone, Event
from pipeline.plan import plan as simulated
from pipeline.plan.plan import plan
from pipeline.sweep.model import Sweep
from storage import open_results
from tests.pipeline.runs import SYNCHRONOUS, content_hash

TEXT = """\
limbsweep: 1
robot: planar_3r
design: {grid: {length_1: [0.4, 0.5]}}
friction: {law: coulomb_viscous, grid: {viscous: [0.0, 0.1]}}
trajectories: {move: {kind: quintic, end: 0.1, duration: 0.02}}
simulation:
  controller: {kind: pd, parameters: {kd: 5.0}}
  gains: {grid: {kp: [100.0, 300.0]}}
  state: {list: {joint_1: [0.0, 0.05, 0.1]}}
time: {stop: 0.008, step: 0.002}
outputs: [tracking_error, joint_position]
metrics: [rms_tracking_error, integration_error, lost_steps]
"""


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulated, "FEW_CASES", 6)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("whole") / "s.zarr"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(simulated, "FEW_CASES", 6)
        run(Sweep.from_text(TEXT), path, SYNCHRONOUS)
    return path


def test_a_store_has_the_dims_of_all_axes(whole: Path) -> None:
    results = open_results(whole)
    assert plan(Sweep.from_text(TEXT)).blocks == 4
    case = ("design", "friction", "trajectory", "gains", "state")
    assert results["tracking_error"].dims == (*case, "time", "actuator")
    assert results["rms_tracking_error"].dims == (*case, "actuator")
    assert results["kp"].values.tolist() == [100.0, 300.0]
    assert results["joint_1"].dims == ("state",)
    assert (results["worst_status"] == 0).all()
    assert results.attrs["title"] == "planar_3r: simulation"
    assert not verify(whole, recompute=1.0).findings


def test_a_run_that_was_interrupted_ends_with_the_same_store(whole: Path, tmp_path: Path) -> None:
    def stop(event: Event) -> None:
        if isinstance(event, BlockDone):
            raise KeyboardInterrupt

    path = tmp_path / "s.zarr"
    with pytest.raises(KeyboardInterrupt):
        run(Sweep.from_text(TEXT), path, SYNCHRONOUS, [stop])
    events: list[Event] = []
    run(Sweep.from_text(TEXT), path, SYNCHRONOUS, [events.append])
    assert 0 < sum(isinstance(event, BlockDone) for event in events) < 4
    assert content_hash(path) == content_hash(whole)


def test_without_a_store_the_bits_are_the_same(whole: Path) -> None:
    sweep, stored = Sweep.from_text(TEXT), open_results(whole)
    for results in (compute(sweep), lazy(sweep).compute(scheduler="synchronous")):
        for name in stored.data_vars:
            assert np.array_equal(results[name].values, stored[name].values, equal_nan=True), name


def test_designs_are_appended(whole: Path, tmp_path: Path) -> None:
    first, longer = (TEXT.replace("[0.4, 0.5]", values) for values in ("[0.4]", "[0.4, 0.5]"))
    run(Sweep.from_text(first), tmp_path / "s.zarr", SYNCHRONOUS)
    grown = append(tmp_path / "s.zarr", Sweep.from_text(longer), SYNCHRONOUS)
    stored = open_results(whole)
    for name in stored.data_vars:
        assert np.array_equal(grown[name].values, stored[name].values, equal_nan=True), name


def test_check_says_what_is_simulated(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(TEXT)
    result = CliRunner().invoke(cli, ["check", "--quick", str(tmp_path / "s.yaml")])
    assert result.exit_code == 0, result.stderr
    for line in ("pd in the actuator space, rk4 by 0.002 s", "gain sets", "initial states", "cases           24"):
        assert line in result.stdout


def test_a_report_takes_gains_and_states_as_designs(whole: Path) -> None:
    table = by_design(open_results(whole))
    assert table["rms_tracking_error"].dims == ("design", "friction", "trajectory", "actuator")
    assert table.sizes["design"] == 12
    one = table.isel(design=7)
    assert (one["length_1"], one["kp"], one["joint_1"]) == (0.5, 100.0, 0.05)
    stored = open_results(whole)["rms_tracking_error"].isel(design=1, gains=0, state=1)
    assert np.array_equal(one["rms_tracking_error"].values, stored.values)


def test_a_report_simulates_designs_again(whole: Path) -> None:
    """Each is what the store has of it, with what the store has not; gains differ in some, robots in others."""
    results = results_of(whole, friction=1)
    table = results.dataset["joint_position"].isel(friction=1)
    for numbers in ((7, 2, 10), (0, 1, 3), (4,)):
        assert results.sweep is not None
        cases = {case.design: case for case in recomputed.compute(results.sweep, numbers, 1)}
        assert set(cases) == set(numbers)
        for number, case in cases.items():
            stored = table.isel(design=number)
            assert np.array_equal(case.results["joint_position"].transpose(*stored.dims).values, stored.values)
            assert case.robot is not None
            assert case.robot.values["length_1"] == float(results.dataset["length_1"][number])
    case = next(results.cases((7,)))
    (frames,), lines = series.motions(case)
    assert np.isfinite(frames.points).all()
    assert np.isnan(frames.force).all()  # nobody has computed reactions of simulated motions
    assert len(lines.limbs) == 1


@pytest.mark.parametrize(("most", "grid"), [(8, (2, 2, 1, 1, 1)), (4, (2, 2, 1, 2, 1)), (2, (2, 2, 1, 2, 2))])
def test_gains_and_states_are_cut_where_they_are_many(
    most: int, grid: tuple[int, ...], whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(simulated, "FEW_CASES", most)
    monkeypatch.setattr(simulated, "BLOCK_CASES", most)
    sweep, stored = Sweep.from_text(TEXT), open_results(whole)
    made = plan(sweep)
    assert tuple(made.layout.grid.counts) == grid[: len(made.layout.grid.counts)]
    assert sum(made.samples_of(index) for index in range(made.blocks)) == made.samples
    for results in (run(sweep, tmp_path / "s.zarr", SYNCHRONOUS), lazy(sweep).compute(scheduler="synchronous")):
        for name in stored.data_vars:
            assert np.array_equal(results[name].values, stored[name].values, equal_nan=True), name
    assert not verify(tmp_path / "s.zarr", recompute=1.0).findings


def test_a_part_of_the_gains_of_a_block_is_computed_alone() -> None:
    block = block_of(plan(Sweep.from_text(TEXT)), 0)
    one = slice(0, 1)
    part = (one, one, one, slice(1, 2), slice(1, 3))
    assert (isolation.cases(isolation.whole(block)), isolation.cases(part)) == (6, 2)
    results, arrays = computed(block), computed(isolation.cut(block, part))
    for name, values in arrays.items():
        assert np.array_equal(values, results[name][part], equal_nan=True), name
    assert [isolation.cases(half) for half in isolation.halves(isolation.whole(block))] == [2, 4]


def test_metrics_of_a_users_own_see_one_case_each(whole: Path, tmp_path: Path) -> None:
    def number(time, gains, state, parameters):  # type: ignore[no-untyped-def]
        return time[-1] + gains["kp"] + gains["kd"] + state["joint_1"] + parameters["length_1"]

    def fastest(actuator_velocity):  # type: ignore[no-untyped-def]
        return np.abs(actuator_velocity).max(axis=0)

    metrics = {"number": number, "fastest": UserMetric(fastest, "rad/s", per_actuator=True)}
    results = run(Sweep.from_text(TEXT), tmp_path / "s.zarr", SYNCHRONOUS, metrics=metrics)
    expected = results["kp"] + results["joint_1"] + results["length_1"] + 0.008 + 5.0
    assert results["number"].dims == ("design", "friction", "trajectory", "gains", "state")
    assert float(np.abs(results["number"] - expected).max()) < 1e-12
    assert results["fastest"].sizes["actuator"] == 3
    assert "actuator_velocity" not in results  # computed for the metric alone
    stored = open_results(whole)
    assert np.array_equal(results["joint_position"].values, stored["joint_position"].values)
    with pytest.raises(InputError, match=r"metrics late\(kp\): got no such series"):
        run(Sweep.from_text(TEXT), tmp_path / "t.zarr", SYNCHRONOUS, metrics={"late": lambda kp: kp})


FURTHER = TEXT.replace("[tracking_error, joint_position]", "[joint_reaction, mass_matrix]").replace(
    "[rms_tracking_error, integration_error, lost_steps]", "[rms_power, peak_reaction, manipulability, actuator_margin]"
)
FURTHER += "limits: {actuators: {all: {force: 50.0}}}\n"


def largest(joint_acceleration, joint_reaction):  # type: ignore[no-untyped-def]
    return float(np.nanmax(np.abs(joint_acceleration))) + float(np.nanmax(np.abs(joint_reaction)))


def test_quantities_of_given_motions_are_stored_resumed_and_recomputed(tmp_path: Path) -> None:
    """A run that is interrupted goes on; `peak_reaction` has limbs and joints, a user's metric sees accelerations."""

    def stop(event: Event) -> None:
        if isinstance(event, BlockDone):
            raise KeyboardInterrupt

    sweep, path, metrics = Sweep.from_text(FURTHER), tmp_path / "s.zarr", {"largest": largest}
    with pytest.raises(KeyboardInterrupt):
        run(sweep, path, SYNCHRONOUS, [stop], metrics=metrics)
    stored = run(sweep, path, SYNCHRONOUS, metrics=metrics)
    case = ("design", "friction", "trajectory", "gains", "state")
    assert stored["peak_reaction"].dims == (*case, "limb", "joint")
    assert stored["joint_reaction"].dims == (*case, "time", "limb", "joint", "wrench")
    assert stored["rms_power"].attrs["long_name"].endswith("over all steps")
    assert not verify(path).findings
    whole = compute(sweep, metrics=metrics)
    for name in stored.data_vars:
        assert np.array_equal(stored[name].values, whole[name].values, equal_nan=True), name
    force = np.sqrt((stored["joint_reaction"].values[..., 3:] ** 2).sum(axis=-1)).max(axis=-3)
    assert np.allclose(stored["peak_reaction"].values, force, rtol=1e-12)  # every step is stored
    assert float(stored["actuator_margin"].min()) < 1.0
    assert np.isfinite(stored["largest"].values).all()


def test_the_plan_counts_the_stages_of_a_simulation() -> None:
    """Compare the planned memory with the peak of a block's task, without compiled code."""
    text = FURTHER.replace("stop: 0.008, step: 0.002}", "stop: 0.02, step: 0.00005}").replace(
        "outputs: [joint_reaction, mass_matrix]", "outputs: []"
    )
    made = plan(Sweep.from_text(text))
    block = block_of(made, 0)
    computed(block)
    tracemalloc.start()
    computed(block)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < made.block_memory


def test_gains_and_states_of_any_number_take_no_memory() -> None:
    many = "gains: {grid: {kp: {start: 100, stop: 300, num: 30000000}, sample_time: [0.0, 0.002]}}"
    text = TEXT.replace("gains: {grid: {kp: [100.0, 300.0]}}", many).replace("step: 0.002}", "step: 0.008}")
    text = text.replace("simulation:", "simulation:\n  step: 0.002")
    text = text.replace("outputs: [tracking_error, joint_position]", "").replace("[0.4, 0.5]", "[0.4]")
    tracemalloc.start()
    sweep = Sweep.from_text(text)
    made = plan(sweep)
    last = block_of(made, made.blocks - 1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert last.simulation is not None
    assert last.simulation.gains[-1].tolist() == [300.0, 5.0, 0.002]
    assert peak < 64 << 20
    with pytest.raises(InputError, match=r"sample_time of 0\.0035; expected a whole number of steps"):
        Sweep.from_text(text.replace("[0.0, 0.002]", "[0.0, 0.0035]"))


@pytest.mark.parametrize(
    ("robot", "parameter", "sizes", "gains"),
    [
        ("delta_3rr2rrr", "upper_arm", [0.245, 0.25, 0.255], {"kp": 800.0, "kd": 15.0}),
        ("gough_stewart", "platform_radius", [0.98, 1.0, 1.02], {"kp": 3e5, "kd": 1e4}),
    ],
)
def test_linear_equations_of_each_case_are_those_of_its_state(
    robot: str, parameter: str, sizes: list[float], gains: dict[str, float]
) -> None:
    sweep = Sweep.from_dict({
        "limbsweep": 1,
        "robot": robot,
        "design": {"grid": {parameter: sizes}},
        "trajectories": {"way": {"kind": "circle", "radius": 0.02, "period": 0.5}},
        "time": {"stop": 0.04, "step": 0.01},
        "simulation": {"step": 0.001, "controller": {"kind": "pd", "parameters": gains}},
        "outputs": ["platform_position", "platform_rotation", "platform_twist", "platform_acceleration",
                    "state_matrix", "input_matrix"],
    })  # fmt: skip
    results = ls.compute(sweep, progress=False).squeeze()
    for k, size in enumerate(sizes):
        built, one = ls.robots.build(robot, **{parameter: size}), results.isel(design=k)
        names = {"position": "platform_position", "twist": "platform_twist", "acceleration": "platform_acceleration"}
        names |= {"rotation": "platform_rotation"} if "platform_rotation" in one else {}
        motion = ls.Motion(**{key: one[name].values for key, name in names.items()})
        force = ls.inverse_dynamics(built, motion).force
        state = ls.State(**{key: one[name].values for key, name in names.items() if key != "acceleration"})
        wanted = ls.linearisation(built, state, forces=ls.Forces(actuator=force))
        for found, right in ((one["state_matrix"], wanted.state), (one["input_matrix"], wanted.input)):
            np.testing.assert_allclose(found.values, right, rtol=1e-7, atol=1e-7 * np.abs(right).max())


def test_distances_of_a_platform_from_its_reference_are_those_of_the_series() -> None:
    given = {
        "robot": "five_bar",
        "trajectories": {"q": {"kind": "quintic", "end": [0.05, 0, 0], "duration": 0.1}},
        "time": {"stop": 0.1, "step": 0.001},
        "simulation": {"step": 0.001, "controller": {"kind": "pd", "parameters": {"kp": 400.0, "kd": 4.0}}},
        "outputs": ["position_error"],
        "metrics": ["peak_position_error", "rms_position_error"],
    }
    ds = compute(Sweep.from_dict(given)).squeeze()
    distance = np.linalg.norm(ds["position_error"].transpose("time", "axis"), axis=1)
    assert float(ds["peak_position_error"]) == pytest.approx(distance.max(), rel=1e-12)
    assert float(ds["rms_position_error"]) == pytest.approx(np.sqrt(np.trapezoid(distance**2, dx=0.01)), rel=1e-9)
