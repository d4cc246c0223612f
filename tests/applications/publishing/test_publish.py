from __future__ import annotations

import hashlib
import io
import json
import tarfile
from pathlib import Path

import numpy as np
import pandas
import pytest
import xarray
from click.testing import CliRunner, Result

from applications.commands.cli import cli
from applications.publishing.episodes import _signals, episodes_of
from applications.publishing.publish import publish
from applications.publishing.windows import WindowReader
from pipeline import run
from pipeline.errors import InputError
from pipeline.execution.opening import open as opened
from pipeline.sweep.dataset_split import PARTS, case_part
from pipeline.sweep.model import Sweep
from storage.errors import StoreError
from tests.pipeline.runs import SYNCHRONOUS

pytest.importorskip("pyarrow")

TEXT = """\
limbsweep: 1
title: planar arms, a test
robot: planar_3r
seed: 3
design: {sample: {method: sobol, count: 6, parameters: {mass_3: {low: 1, high: 3}}}}
friction: {law: coulomb_viscous, list: {coulomb: [0.2, 0.4], viscous: [0.1, 0.2]}}
trajectories:
  excite: {kind: random_fourier, count: 4, seed: 2, period: 2.0, position: 1.0, velocity: 4, acceleration: 20}
time: {stop: 2.0, samples: 101}
outputs: [actuator_position, actuator_force, measured_position, measured_force, joint_position]
measurement: {force_noise: 0.05, cutoff: 20}
split: {validation: 0.28, test: 0.36}
publication: {licence: CC-BY-4.0, authors: [Ada Writer, Bo Reader], version: 2.1.0, date: '2026-05-04'}
"""
LENGTH, EPISODES = 101, 48


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("arms") / "arms.zarr"
    run(Sweep.from_text(TEXT), place, SYNCHRONOUS)
    return place


@pytest.fixture(scope="module")
def folder(store: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("published") / "arms"
    publish(store, place, webdataset=True)
    return place


def _frames(folder: Path) -> pandas.DataFrame:
    return pandas.concat([pandas.read_parquet(path) for path in sorted(folder.glob("data/*/*.parquet"))])


def test_plain_pandas_reads_the_numbers_of_the_store(store: Path, folder: Path) -> None:
    data, frames = opened(store).load(), _frames(folder)
    assert len(frames) == EPISODES * LENGTH
    assert frames["index"].tolist() == list(range(len(frames)))
    case = {"design": 2, "friction": 1, "trajectory": 3}
    rows = frames.query("design == 2 and friction == 1 and trajectory == 3")
    for name in ("measured_force", "actuator_position", "joint_position"):
        series = data[name].isel({dim: at for dim, at in case.items() if dim in data[name].dims}).values
        assert (np.stack(rows[name].to_numpy()) == series.reshape(LENGTH, -1)).all()
    assert np.allclose(rows["timestamp"], data["time"], atol=1e-7)
    designs, friction = (pandas.read_parquet(folder / "tables" / f"{name}.parquet") for name in ("designs", "friction"))
    assert designs["true_link_3_mass"].tolist() == data["true_link_3_mass"].values.tolist()
    assert friction["viscous"].tolist() == [0.1, 0.2]


def test_each_case_is_in_the_folder_and_split_of_its_part(store: Path, folder: Path) -> None:
    data, information = opened(store), json.loads((folder / "meta/info.json").read_text())
    episodes = pandas.read_parquet(folder / "meta/episodes")
    assert [*information["splits"]] == [*PARTS]
    for chunk, (part, span) in enumerate(information["splits"].items()):
        first, last = map(int, span.split(":"))
        frames = pandas.concat([pandas.read_parquet(path) for path in (folder / f"data/chunk-{chunk:03d}").iterdir()])
        assert sorted(set(frames["episode_index"])) == list(range(first, last))
        for _, row in frames.drop_duplicates("episode_index").iterrows():
            names = (data[f"{dim}_part"].values[int(row[dim])] for dim in ("design", "trajectory"))
            assert case_part(*map(str, names)) == part
            place = episodes.iloc[int(row["episode_index"])]
            assert (place["part"], place["data/chunk_index"], place["length"]) == (part, chunk, LENGTH)


def test_statistics_are_those_of_the_episodes_for_training(folder: Path) -> None:
    found = json.loads((folder / "meta/stats.json").read_text())["measured_force"]
    values = np.concatenate([np.stack(pandas.read_parquet(path)["measured_force"].to_numpy())
                             for path in (folder / "data/chunk-000").iterdir()])  # fmt: skip
    assert found["count"] == [len(values)]
    for kind, expected in (("min", values.min(0)), ("max", values.max(0)), ("mean", values.mean(0)),
                           ("std", values.std(0))):  # fmt: skip
        assert found[kind] == pytest.approx(expected.tolist(), rel=1e-12)


def test_the_card_has_licence_units_splits_and_citation(folder: Path) -> None:
    text = (folder / "README.md").read_text()
    for line in (
        *("license: cc-by-4.0", "version: 2.1.0", "pretty_name: planar arms, a test", "  - split: validation"),
        *(
            "    path: data/chunk-001/*.parquet",
            "| `measured_force` | N m | 3 |",
            "author = {Ada Writer and Bo Reader}",
        ),
        *("year = {2026}", "- licence: cc-by-4.0 (https://spdx.org/licenses/CC-BY-4.0.html)"),
    ):
        assert line in text
    assert "could not be computed" not in text


def test_croissant_and_crate_name_every_file_with_its_checksum(folder: Path) -> None:
    said = json.loads((folder / "croissant.json").read_text())
    assert said["conformsTo"] == "http://mlcommons.org/croissant/1.1"
    files = {each["contentUrl"]: each["sha256"] for each in said["distribution"] if "sha256" in each}
    assert {*files} == {path.relative_to(folder).as_posix() for kind in ("data", "tables")
                        for path in (folder / kind).rglob("*.parquet")}  # fmt: skip
    assert all(hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest for name, digest in files.items())
    graph = {each["@id"]: each for each in json.loads((folder / "ro-crate-metadata.json").read_text())["@graph"]}
    named = {each["@id"] for each in graph["./"]["hasPart"]}
    assert named == {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()} - {
        "ro-crate-metadata.json"
    }
    assert graph["#run"]["object"] == [{"@id": "provenance/sweep.yaml"}]
    assert Sweep.from_yaml(folder / "provenance/sweep.yaml").fingerprint == graph["./"]["identifier"]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of its own code
def test_mlcroissant_reads_the_samples(folder: Path) -> None:
    mlcroissant = pytest.importorskip("mlcroissant", reason="an extra of its own, test-datasets")
    found = mlcroissant.Dataset(folder / "croissant.json")
    first = next(iter(found.records("samples")))
    assert list(first["samples/measured_force"]) == _frames(folder)["measured_force"].iloc[0].tolist()


def test_hugging_face_reads_the_parts(folder: Path, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets", reason="an extra of its own, test-datasets")
    found = datasets.load_dataset(str(folder), cache_dir=str(tmp_path))
    assert [*found] == [*PARTS]
    assert sum(map(len, found.values())) == EPISODES * LENGTH
    assert found["test"][0]["measured_force"] == pytest.approx(
        pandas.read_parquet(folder / "data/chunk-002")["measured_force"].iloc[0].tolist(), rel=1e-15
    )


def test_shards_of_webdataset_have_an_array_for_each_signal(folder: Path) -> None:
    names = []
    for path in sorted((folder / "webdataset").iterdir()):
        with tarfile.open(path) as file:
            names += file.getnames()
            entry = file.extractfile("".join(name for name in file.getnames()[:6] if "measured_force" in name))
            assert entry is not None
            assert np.load(io.BytesIO(entry.read())).shape == (LENGTH, 3)
    assert len(names) == EPISODES * 6
    assert "000000000.measured_force.npy" in names


def test_cases_with_failed_samples_are_left_out_and_counted(store: Path) -> None:
    data = opened(store).load()
    worst = data["worst_status"].copy()
    worst[{dim: 0 for dim in worst.dims if dim != "trajectory"} | {"trajectory": 1}] = 3
    episodes = episodes_of(data.assign(worst_status=worst), "arms")
    left_out = 2 if "friction" not in worst.dims else 1
    assert (len(episodes.rows), episodes.left_out) == (EPISODES - left_out, left_out)
    assert (0, 0, 1) not in [row.case for row in episodes.rows]
    with pytest.raises(StoreError, match="arms: has no case without failed samples"):
        episodes_of(data.assign(worst_status=worst * 0 + 3), "arms")
    series = [name for name in data.data_vars if "time" in data[name].dims]
    with pytest.raises(StoreError, match="arms: has no series over time"):
        episodes_of(data.drop_vars(series), "arms")


def test_every_window_is_in_one_batch(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("applications.publishing.windows.MIXED", 1)
    reader = WindowReader(folder, "train", ["measured_force", "episode_index"], window=20, batch=7, seed=1)
    batches = list(reader.batches())
    assert {batch["measured_force"].shape[1:] for batch in batches} == {(20, 3)}
    assert {len(batch["measured_force"]) for batch in batches[:-1]} == {7}
    frames = pandas.read_parquet(folder / "data/chunk-000")
    count = frames["episode_index"].nunique()
    firsts = np.concatenate([batch["measured_force"][:, 0, 0] for batch in batches])
    wanted = np.stack(frames.query("frame_index % 20 == 0 and frame_index < 100")["measured_force"].to_numpy())[:, 0]
    assert len(firsts) == 5 * count
    assert sorted(firsts.tolist()) == sorted(wanted.astype("float32").tolist())
    again, other = (np.concatenate([b["measured_force"][:, 0, 0] for b in reader.batches(k)]) for k in (0, 1))
    assert (again == firsts).all()
    assert not (other == firsts).all()
    shared = [batch for k in range(2) for batch in reader.batches(0, (k, 2))]
    assert sorted(np.concatenate([b["measured_force"][:, 0, 0] for b in shared]).tolist()) == sorted(firsts.tolist())


def test_normalised_windows_have_mean_zero_and_deviation_one(folder: Path) -> None:
    reader = WindowReader(folder, "train", ["measured_force"], normalised=True, precision="float64")
    values = np.concatenate([batch["measured_force"] for batch in reader.batches()])
    assert values.shape[1:] == (LENGTH, 3)
    assert np.allclose(values.mean(axis=(0, 1)), 0.0, atol=1e-12)
    assert np.allclose(values.std(axis=(0, 1)), 1.0, atol=1e-12)


def test_windows_are_a_dataset_of_torch(folder: Path) -> None:
    torch = pytest.importorskip("torch", reason="torch is an extra; PyPI's wheels for Linux need gigabytes of CUDA")
    from limbsweep.torch import Windows

    windows = Windows(folder, "train", ["measured_force"], window=20, batch=8, normalised=True)
    batch = next(iter(torch.utils.data.DataLoader(windows, batch_size=None)))
    assert batch["measured_force"].shape == (8, 20, 3)
    assert batch["measured_force"].dtype == torch.float32
    assert windows.statistics["measured_force"]["mean"].shape == (3,)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"part": "tset"}, "part: got 'tset'; expected one of train, validation, test"),
        ({"variables": ("force",)}, "variables: got 'force'; expected columns of the dataset: actuator_force"),
        ({"window": 200}, "expected 1 to 101"),
        ({"folder": "nowhere"}, r"nowhere.meta.info.json: .*expected the folder of a published dataset"),
    ],
)
def test_windows_that_cannot_be_are_refused(folder: Path, options: dict[str, object], message: str) -> None:
    with pytest.raises(StoreError, match=message):
        WindowReader(**{"folder": folder, "part": "train", "variables": ("measured_force",), **options})  # type: ignore[arg-type]


def _dataset(*words: str) -> Result:
    return CliRunner().invoke(cli, ["dataset", *words])


def test_what_cannot_be_published_is_refused_before_anything_runs(tmp_path: Path) -> None:
    sweep, out = tmp_path / "s.yaml", tmp_path / "out"
    sweep.write_text(TEXT[: TEXT.index("publication")])
    for words, message in (
        (["--publish", str(out)], "publication: got no licence and no authors; expected both; say them in the sweep"),
        (
            ["--publish", str(out), "--author", "X", "--licence", "free"],
            "licence: got 'free'; expected one of apache-2.0",
        ),
        (["--publish", str(tmp_path), "--author", "X", "--licence", "mit"], "exists already; expected a new folder"),
        (["--licence", "mit"], "--licence: got it without --publish; expected both"),
    ):
        done = _dataset(str(sweep), *words)
        assert (done.exit_code, message in done.output) == (2, True), done.output
    assert [path.name for path in tmp_path.iterdir()] == ["s.yaml"]


def test_the_command_publishes_a_store_with_options_for_what_its_sweep_lacks(store: Path, tmp_path: Path) -> None:
    done = _dataset(str(store), "--publish", str(tmp_path / "out"), "--licence", "MIT", "--author", "C", "--single")
    assert done.exit_code == 0, done.output
    assert "license: mit\n" in (tmp_path / "out/README.md").read_text()
    features = json.loads((tmp_path / "out/meta/info.json").read_text())["features"]
    assert features["measured_force"]["dtype"] == "float32"
    assert pandas.read_parquet(tmp_path / "out/data")["measured_force"].iloc[0].dtype == np.float32


def test_a_publication_changes_no_fingerprint_and_its_mistakes_are_told() -> None:
    assert Sweep.from_text(TEXT).fingerprint == Sweep.from_text(TEXT[: TEXT.index("publication")]).fingerprint
    wrong = TEXT.replace("CC-BY-4.0", "CC-BY-9").replace("2026-05-04", "May").replace("2.1.0,", "2.1.0, address: here,")
    with pytest.raises(InputError) as caught:
        Sweep.from_text(wrong)
    for text in ("publication.licence", "publication.date", "publication.address", "a date such as 2026-11-27"):
        assert text in str(caught.value)


def test_a_series_of_two_gibibytes_in_one_case_is_refused() -> None:
    for samples in (1 << 28, (1 << 28) + 1):
        series = np.broadcast_to(np.float64(0.0), (1, samples))  # takes no memory
        found = _signals(xarray.Dataset({"x": (("design", "time"), series)}))
        if samples == 1 << 28:
            assert [signal.width for signal in found] == [1]
            continue
        with pytest.raises(StoreError, match=r"x: got 2 GiB in one case; expected below 2 GiB; shorten the time"):
            list(found)
