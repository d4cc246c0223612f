from __future__ import annotations

import csv
import itertools
import re
import shutil
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.io import loadmat

from applications.commands.cli import cli
from applications.export.tables import export
from applications.identification.batches import Loader
from applications.identification.identify import identify
from pipeline import run
from pipeline.errors import InputError
from pipeline.sweep.dataset_split import DatasetSplit, case_part
from pipeline.sweep.model import Sweep
from robots.extras import MissingExtraError
from robots.parameter_errors import ParameterError
from storage import open_results
from storage.errors import StoreError
from storage.store import StoreWriter
from tasks.mathematics.signals import filtered
from tests.pipeline.runs import SYNCHRONOUS

TREE = """\
limbsweep: 1
title: planar arms
robot: planar_3r
seed: 3
design: {sample: {method: sobol, count: 4, parameters: {mass_3: {low: 1, high: 3}}}}
friction: {law: coulomb_viscous, list: {coulomb: [0.2, 0.4], viscous: [0.1, 0.2]}}
trajectories:
  excite: {kind: random_fourier, count: 4, seed: 2, period: 2.0, position: 1.0, velocity: 4, acceleration: 20}
time: {stop: 2.0, samples: 401}
outputs: [actuator_position, actuator_force, joint_position, joint_velocity, joint_acceleration,
  measured_position, measured_velocity, measured_acceleration, measured_current, measured_force, measured_raw_position,
  measured_raw_current]
measurement: {encoder_step: 1.0e-5, force_noise: 0.05, cutoff: 20, force_constant: 0.5}
split: {validation: 0.28, test: 0.36}
"""
DELTA = (
    TREE.replace("planar_3r", "delta_3rr2rrr")
    .replace("mass_3: {low: 1, high: 3}", "density: {low: 2000, high: 3000}")
    .replace("position: 1.0, velocity: 4", "position: 0.12, velocity: 2")
    .replace(
        "joint_position, joint_velocity, joint_acceleration", "platform_position, platform_twist, platform_acceleration"
    )
)
NAMES = ("measured_position", "measured_force")


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    store = tmp_path_factory.mktemp("tree") / "tree.zarr"
    run(Sweep.from_text(TREE), store, SYNCHRONOUS)
    return store


@pytest.fixture(scope="module")
def delta(tmp_path_factory: pytest.TempPathFactory) -> Path:
    store = tmp_path_factory.mktemp("delta") / "delta.zarr"
    run(Sweep.from_text(DELTA), store, SYNCHRONOUS)
    return store


def test_measured_signals_are_clean_ones_with_errors(tree: Path) -> None:
    data = open_results(tree).load()
    error = data["measured_force"] - data["actuator_force"]
    assert 0.0 < float(error.std()) < 0.2
    assert np.allclose(data["measured_force"], 0.5 * data["measured_current"])
    assert float(abs(data["measured_position"] - data["actuator_position"]).max()) < 1e-4
    for name, raw in (("measured_current", "measured_raw_current"), ("measured_position", "measured_raw_position")):
        along = [np.moveaxis(data[part].values, data[part].get_axis_num("time"), 0) for part in (name, raw)]
        np.testing.assert_allclose(along[0], filtered({"cutoff": 20.0, "order": 4.0}, 0.005, along[1]), atol=1e-12)
        assert np.abs(along[0] - along[1]).max() > 1e-6
    noise = data["measured_force"].values - filtered(
        {"cutoff": 20.0, "order": 4.0}, 0.005, np.moveaxis(data["actuator_force"].values, 3, 0)
    ).swapaxes(0, 1).swapaxes(1, 2).swapaxes(2, 3)
    flat = noise.reshape(8 * 4, -1)
    assert np.abs(np.corrcoef(flat) - np.eye(32)).max() < 0.35  # each case has noise of its own


def test_sensors_of_each_actuator_are_its_own(tmp_path: Path) -> None:
    text = TREE.replace("force_noise: 0.05, cutoff: 20", "force_noise: [0, 0.05, 0.5]").replace("count: 4", "count: 1")
    data = run(Sweep.from_text(text), tmp_path / "own.zarr", SYNCHRONOUS)
    noise = (data["measured_force"] - data["actuator_force"]).std(("design", "friction", "trajectory", "time")).values
    assert noise == pytest.approx([0.0, 0.05, 0.5], rel=0.1, abs=1e-12)


def test_bits_do_not_depend_on_blocks(tree: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("pipeline.plan.plan.BLOCK_SAMPLES", 512)
    monkeypatch.setattr("pipeline.plan.plan.SMALL_BLOCK", 512)
    monkeypatch.setattr("pipeline.plan.plan.FRICTION_SAMPLES", 512)
    found = run(Sweep.from_text(TREE), tmp_path / "other.zarr", SYNCHRONOUS).load()
    whole = open_results(tree).load()
    assert StoreWriter(tmp_path / "other.zarr").layout.blocks > StoreWriter(tree).layout.blocks
    for name in ("measured_position", "measured_acceleration", "measured_force"):
        assert (found[name].values == whole[name].values).all()


def test_true_parameters_are_coordinates(tree: Path) -> None:
    data = open_results(tree)
    assert data["true_link_3_mass"].dims == ("design",)
    assert data["true_link_3_mass"].attrs["units"] == "kg"
    assert len(set(data["true_link_3_mass"].values.tolist())) == 4


@pytest.mark.parametrize("clean", [True, False])
@pytest.mark.parametrize("name", ["tree", "delta"])
def test_robots_are_identified(name: str, clean: bool, request: pytest.FixtureRequest) -> None:
    store = request.getfixturevalue(name)
    found = identify(store, "least_squares", clean=clean, designs=[0, 3], cluster=SYNCHRONOUS)
    assert len(found.fits) == 4
    assert not found.failed
    fits = found.fits.values()
    if clean:
        assert max(np.abs(each.values - each.truth).max() / np.abs(each.truth).max() for each in fits) < 1e-8
        assert max(each.validation for each in fits) < 1e-8
    else:
        scores = np.abs(np.concatenate([each.scores for each in fits]))
        assert max(each.validation for each in fits) < 0.1
        if name == "delta":  # a tree's regressor is measured too, which standard deviations do not know
            assert np.mean(scores < 2.0) > 0.85
            assert np.mean(scores < 3.5) == 1.0


def test_an_export_is_read_back(tree: Path, tmp_path: Path) -> None:
    data = open_results(tree).load()
    for form in ("npz", "mat_designs", "csv"):
        export(tree, tmp_path / form, form)
    parts = data["design_part"].values.tolist()
    stem = f"{parts[1]}_000001"
    with np.load(tmp_path / "npz" / f"{stem}.npz") as file:
        assert (file["measured_force"] == data["measured_force"].values[1]).all()
        assert file["actuator"].tolist() == data["actuator"].values.tolist()
    mat = loadmat(tmp_path / "mat_designs" / f"{stem}.mat")
    assert (mat["measured_force"] == data["measured_force"].values[1]).all()
    count = 0
    for path in [path for path in (tmp_path / "csv").iterdir() if path.stem in ("train", "validation", "test")]:
        with path.open(newline="") as file:
            for row in csv.DictReader(file):
                if (row["design"], row["friction"], row["trajectory"]) == ("1", "1", "2"):
                    wanted = data["measured_force"].values[1, 1, 2, round(float(row["time"]) / 0.005), 0]
                    assert float(row["measured_force_joint_1"]) == wanted
                    count += 1
    assert count == 401
    with (tmp_path / "csv" / "designs.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["true_link_3_mass"]) for row in rows] == data["true_link_3_mass"].values.tolist()


def test_machine_code_writes_the_bytes_of_the_writer_of_cells(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    export(tree, tmp_path / "whole", "csv")
    monkeypatch.setattr("applications.export.tables.FEW", 1 << 62)
    export(tree, tmp_path / "cells", "csv")
    monkeypatch.setattr("applications.export.tables.FEW", 0)
    monkeypatch.setattr("applications.export.tables.ROWS", 7)
    export(tree, tmp_path / "parts", "csv")
    for path in (tmp_path / "cells").iterdir():
        for other in ("whole", "parts"):
            assert path.read_bytes() == (tmp_path / other / path.name).read_bytes(), path.name


def test_an_export_has_the_friction_and_parts_of_cases(tree: Path, tmp_path: Path) -> None:
    export(tree, tmp_path / "csv", "csv")
    export(tree, tmp_path / "npz", "npz")
    with (tmp_path / "csv" / "friction.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["coulomb"]) for row in rows] == [0.2, 0.4]
    assert [float(row["viscous"]) for row in rows] == [0.1, 0.2]
    data = open_results(tree)
    expected = {
        (d, j): case_part(design, trajectory)
        for d, design in enumerate(data["design_part"].values.tolist())
        for j, trajectory in enumerate(data["trajectory_part"].values.tolist())
    }
    found = {}
    for part in set(expected.values()):
        with (tmp_path / "csv" / f"{part}.csv").open(newline="") as file:
            found |= {(int(row["design"]), int(row["trajectory"])): part for row in csv.DictReader(file)}
    assert found == expected
    for path in (tmp_path / "npz").glob("*.npz"):
        with np.load(path) as archive:
            design = int(path.stem.rpartition("_")[2])
            assert archive["case_part"].tolist() == [expected[design, j] for j in range(4)]


def test_the_loader_reaches_every_case_once_and_names_it(tree: Path) -> None:
    seen = []
    for part in ("train", "validation", "test"):
        loader = Loader(tree, part, NAMES, batch=3, labels=True)
        batches = list(loader)
        assert len(batches) == len(loader)
        for batch in batches:
            seen += list(zip(*(batch[name].tolist() for name in ("design", "friction", "trajectory")), strict=True))
    assert sorted(seen) == [(d, f, j) for d in range(4) for f in range(2) for j in range(4)]
    data = open_results(tree).load()
    batch = next(iter(Loader(tree, "train", NAMES, batch=1, labels=True)))
    case = {name: int(batch[name][0]) for name in ("design", "friction", "trajectory")}
    assert (batch["measured_force"][0] == data["measured_force"].isel(case).values).all()


def test_the_part_of_a_case_is_the_last_of_both() -> None:
    assert case_part("train", "train") == "train"
    assert case_part("validation", "train") == "validation"
    assert case_part("validation", "test") == case_part("test", "train") == "test"


def test_parquet_is_read_back(tree: Path, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    files = export(tree, tmp_path / "parquet", "parquet")
    tables = [parquet.read_table(each) for each in files if each.suffix == ".parquet" and each.stem != "metrics"]
    assert sum(table.num_rows for table in tables) == 4 * 2 * 4 * 401
    data = open_results(tree).load()
    wanted = [
        table.to_pandas().query("design == 0 and friction == 0 and trajectory == 0")["measured_force_joint_2"]
        for table in tables
    ]
    assert np.concatenate(wanted).tolist() == data["measured_force"].values[0, 0, 0, :, 1].tolist()
    table = tables[0]
    assert table.schema.metadata[b"measured_force"] == b"N m"


def test_batches_hold_every_window_once(tree: Path) -> None:
    loader = Loader(tree, "train", NAMES, batch=8, window=100, seed=1)
    batches = list(loader)
    data = open_results(tree).load()
    cases = int((data["design_part"] == "train").sum() * 2 * (data["trajectory_part"] == "train").sum())
    assert sum(len(each["measured_force"]) for each in batches) == 4 * cases
    assert batches[0]["measured_force"].shape == (8, 100, 3)
    again = next(iter(loader))
    assert (again["measured_force"] == batches[0]["measured_force"]).all()
    firsts = {float(each) for batch in batches for each in batch["measured_force"][:, 0, 0]}
    assert len(firsts) == 4 * cases


def test_a_pass_goes_on_exactly_and_workers_share_its_windows(tree: Path) -> None:
    options = {"batch": 3, "window": 100, "seed": 1}
    loader = Loader(tree, "train", NAMES, **options)  # type: ignore[arg-type]
    batches = list(loader)
    for start in (1, len(loader) - 1):
        rest = list(loader.after(start))
        assert len(rest) == len(batches) - start
        for own, expected in zip(rest, batches[start:], strict=True):
            assert all((own[name] == expected[name]).all() for name in NAMES)
    assert list(loader.after(len(loader))) == []
    shared = [Loader(tree, "train", NAMES, worker=(k, 2), **options) for k in range(2)]  # type: ignore[arg-type]
    assert sum(part.windows for part in shared) == loader.windows
    whole, parts = (
        {float(x) for batch in source for x in batch["measured_force"][:, 0, 0]}
        for source in (batches, [batch for part in shared for batch in part])
    )
    assert whole == parts
    single = [loader[number]["measured_force"] for number in range(loader.windows)]
    assert {float(window[0, 0]) for window in single} == whole
    assert single[0].shape == (100, 3)
    with pytest.raises(IndexError, match="expected a number from 0 to"):
        loader[loader.windows]


def test_batches_are_tensors_on_request(tree: Path) -> None:
    torch = pytest.importorskip("torch", reason="torch is an extra; PyPI's wheels for Linux need gigabytes of CUDA")
    arrays = next(iter(Loader(tree, "train", NAMES, batch=8, window=100, seed=1)))
    tensors = next(iter(Loader(tree, "train", NAMES, batch=8, window=100, seed=1, torch=True)))
    for name in NAMES:
        assert isinstance(tensors[name], torch.Tensor)
        assert tensors[name].dtype == torch.float64
        assert (tensors[name].numpy() == arrays[name]).all()


def test_tensors_without_torch_are_refused(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r"limbsweep\[torch\]"):
        next(iter(Loader(tree, "train", NAMES, torch=True)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"part": "trian"}, "expected one of train, validation, test"),
        ({"variables": ("force",)}, "expected series of the store"),
        ({"window": 402}, "expected 1 to 401"),
        ({"worker": (2, 2)}, "expected a number from 0 to below that of all workers"),
    ],
)
def test_a_loader_that_cannot_be_is_refused(tree: Path, options: dict[str, object], message: str) -> None:
    with pytest.raises(StoreError, match=message):
        Loader(tree, **options)  # type: ignore[arg-type]


def test_a_part_without_cases_is_refused(tmp_path: Path) -> None:
    motion = "trajectories: {a: {kind: harmonic, amplitude: [0.1, 0.1, 0.1], period: 1}}\n"
    rest = "time: {stop: 1, step: 0.5}\noutputs: [actuator_force]\n"
    run(Sweep.from_text(f"limbsweep: 1\nrobot: planar_3r\n{motion}{rest}"), tmp_path / "small.zarr")
    with pytest.raises(StoreError, match=r"part: got 'test'; expected a part with cases of .* Run it with the section"):
        Loader(tmp_path / "small.zarr", "test", ("actuator_force",))
    loader = Loader(tmp_path / "small.zarr", "train", ("actuator_force",))
    calls: tuple[tuple[Callable[[], object], str], ...] = (
        (lambda: loader.after(-1), "batches: got -1; expected a whole number, zero or more"),
        (
            lambda: loader.after("a"),  # type: ignore[arg-type]
            "batches: got 'a'; expected a whole number",
        ),
        (
            lambda: loader[0.5],  # type: ignore[index]
            "number: got 0.5; expected a whole number",
        ),
    )
    for call, text in calls:
        with pytest.raises(ParameterError, match=text):
            call()


@pytest.mark.parametrize(
    ("dims", "by"),
    [
        ({"design": 300, "trajectory": 200}, None),
        ({"design": 1, "trajectory": 500}, None),
        ({"design": 500, "state": 1}, None),
        ({"design": 300, "trajectory": 7}, "design"),
        ({"design": 7, "state": 300}, "motion"),
    ],
)
def test_cases_have_the_shares_of_the_split(dims: dict[str, int], by: str | None) -> None:
    shares = DatasetSplit(0.2, 0.2, by).along(dims)
    parts = [shares[dim].of(0, size) for dim, size in dims.items()]
    cases = Counter(case_part(*case) for case in itertools.product(*parts))
    found = [cases[part] / cases.total() for part in ("train", "validation", "test")]
    assert found == pytest.approx([0.6, 0.2, 0.2], abs=0.02)
    if by is not None:
        other = parts[1 if by == "design" else 0]
        assert set(other) == {"train"}


@pytest.mark.parametrize(
    "shares",
    [DatasetSplit(0.2, 0.2), DatasetSplit(0.3, 0.0), DatasetSplit(0.0, 0.3), DatasetSplit(0.001, 0.5, "design")],
)
def test_parts_are_empty_where_a_count_of_cases_finds_none(shares: DatasetSplit) -> None:
    for sizes in itertools.product((1, 2, 4, 7, 30, 2000), (1, 3, 4, 7)):
        dims = dict(zip(("design", "trajectory"), sizes, strict=True))
        along = shares.along(dims)
        parts = [{*along[dim].of(0, size)} for dim, size in dims.items()]
        cases = {case_part(*case) for case in itertools.product(*parts)}
        wanted = {"train"} | ({"validation"} if shares.validation else set()) | ({"test"} if shares.test else set())
        assert set(shares.empty(dims)) == wanted - cases


def test_an_empty_part_is_told_when_a_dataset_is_made() -> None:
    few = Sweep.from_text(TREE.replace("validation: 0.28, test: 0.36", "validation: 0.2, test: 0.2"))
    told = r"split: got no case for test, of 4 along design and 4 along trajectory; expected a case .* by: design"
    assert len(few.warnings) == 1
    assert re.search(told, str(few.warnings[0]))
    for text in (TREE, TREE.replace("validation: 0.28, test: 0.36", "validation: 0.2, test: 0.2, by: design")):
        assert Sweep.from_text(text).warnings == ()


def test_parts_have_their_shares_and_stay_when_a_dataset_grows() -> None:
    parts = DatasetSplit(0.1, 0.2)
    few, many = parts.of(0, 20), parts.of(0, 1000)
    assert many[:20] == few
    assert many[300:700] == parts.of(300, 700)
    assert many.count("test") == pytest.approx(200, abs=2)
    assert many.count("validation") == pytest.approx(100, abs=2)


def test_commands(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "data.yaml").write_text(TREE)
    store = tmp_path / "data.zarr"
    shutil.copytree(tree, store)
    ran = CliRunner().invoke(cli, ["dataset", str(tmp_path / "data.yaml"), "--store", str(store)])
    assert ran.exit_code == 0, ran.output
    card = (store / "CARD.md").read_text()
    assert "planar arms" in card
    assert "33 coordinates along `design`" in card
    assert CliRunner().invoke(cli, ["verify", str(store)]).exit_code == 0
    told = CliRunner().invoke(cli, ["export", str(store), "--format", "npz"])
    assert told.output == f"7 files in {tmp_path / 'data-npz'}\n"
    again = CliRunner().invoke(cli, ["export", str(store), "--format", "npz"])
    assert (again.exit_code, "exists already" in again.output) == (2, True)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("seed: 3\n", "", "noise without seed"),
        ("cutoff: 20", "cutoff: 100", "less than half of 200 Hz"),
        ("force_noise", "force_nois", "Did you mean 'force_noise'"),
        ("force_noise: 0.05", "force_noise: -1", "a number in"),
        ("force_noise: 0.05", "force_noise: [0.1, 0.2, -1]", "a number in"),
        ("force_noise: 0.05", "force_noise: [0.1, 0.2]", "got 2 numbers; expected one, or 3 for the actuators"),
        ("cutoff: 20", "cutoff: [20, 20, 10]", "one number for all actuators"),
        ("actuator_force, ", "", "measured_current alone"),
        ("validation: 0.28, test: 0.36", "validation: 0.5, test: 0.5", "less than 1 together"),
        ("count: 4, seed: 2,", "count: 0, seed: 2,", "a whole number from 1 to"),
        ("count: 4, seed: 2,", "count: 4,", "so that it can be repeated"),
        ("position: 1.0", "position: [1.0, 2.0]", "or a list of 3"),
        ("position: 1.0, ", "", "the largest distance from the centre"),
        ("period: 2.0", "period: 0", "a time above zero"),
        ("period: 2.0", "perod: 2.0", "period"),
        ("samples: 401", "samples: 41", "at least 64 times"),
        (
            "measurement: {encoder_step: 1.0e-5, force_noise: 0.05, cutoff: 20, force_constant: 0.5}\n",
            "",
            "without measurement",
        ),
    ],
)
def test_mistakes_are_told(old: str, new: str, message: str) -> None:
    assert old in TREE
    with pytest.raises(InputError, match=message):
        Sweep.from_text(TREE.replace(old, new))


def test_a_sweep_that_is_no_dataset_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data.yaml").write_text(TREE.split("outputs")[0] + "outputs: [actuator_force]\n")
    told = CliRunner().invoke(cli, ["dataset", str(tmp_path / "data.yaml")])
    assert (told.exit_code, "got neither measurement nor split" in told.output) == (2, True)


@pytest.mark.parametrize(
    ("options", "message"),
    [({"method": "lest_squares"}, "did you mean 'least_squares'"), ({"designs": [9]}, "expected a number from 0 to 3")],
)
def test_an_identification_that_cannot_be_is_refused(tree: Path, options: dict[str, object], message: str) -> None:
    with pytest.raises(StoreError, match=message):
        identify(tree, cluster=SYNCHRONOUS, **options)  # type: ignore[arg-type]


def test_an_unknown_format_is_refused(tree: Path, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="expected one of parquet, netcdf, hdf5, mat, mat_designs, npz, csv"):
        export(tree, tmp_path / "x", "hdf")


def test_an_identification_writes_a_table(delta: Path, tmp_path: Path) -> None:
    file = tmp_path / "found.csv"
    found = identify(delta, designs=[1], cluster=SYNCHRONOUS)
    found.save(file)
    with file.open(newline="") as table:
        rows = list(csv.DictReader(table))
    fit = found.fits[1, 0]
    assert len(rows) == 2 * len(fit.names)
    assert [float(row["value"]) for row in rows[: len(fit.names)]] == fit.values.tolist()
    assert [name for name, _ in found.rows() if name in ("within 2 deviations", "unused trajectories")] == [
        "within 2 deviations",
        "unused trajectories",
    ]


def test_a_store_without_the_signals_is_refused(tree: Path, tmp_path: Path) -> None:
    text = TREE.replace("measured_position, measured_velocity, measured_acceleration, measured_current, ", "")
    run(Sweep.from_text(text), tmp_path / "few.zarr", SYNCHRONOUS)
    with pytest.raises(StoreError, match="has no measured_position"):
        identify(tmp_path / "few.zarr", cluster=SYNCHRONOUS)


def test_a_fall_from_one_state_is_parted_along_designs(tmp_path: Path) -> None:
    """A simulation without forces has no trajectories, and no axis of states where there is one."""
    sweep = Sweep.from_text("""\
limbsweep: 1
robot: five_bar
design: {grid: {proximal_length: {start: 0.5, stop: 0.53, num: 4}}}
simulation: {step: 0.001, method: spanning_tree}
time: {stop: 0.01, step: 0.005}
outputs: [joint_position]
split: {test: 0.25}
""")
    assert sweep.parted == {"design": 4, "state": 1}
    results = run(sweep, tmp_path / "s.zarr", SYNCHRONOUS)
    assert results["design_part"].values.tolist().count("test") == 1
    assert "state_part" not in results
