# ruff: noqa: E501 - a row of a table is a line
"""Sweeps from objects: equal in meaning to files, kept as arrays, refused in one line."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from scipy.spatial.transform import Rotation

from pipeline.documents.tables.table import packed
from pipeline.documents.writing import yaml_text
from pipeline.documents.yaml import parse_yaml
from pipeline.errors import InputError
from pipeline.execution.run import compute, run
from pipeline.plan.plan import plan
from pipeline.stores.append import append
from pipeline.sweep.doors import sweep
from pipeline.sweep.model import Sweep
from pipeline.sweep.stored import stored_sweep
from robots import catalog
from robots.formats.description import describe
from robots.model import Family, Mechanism, Robot

pd = pytest.importorskip("pandas")

COLUMNS = {"upper_arm": [0.2, 0.25, 0.3], "base_radius": [0.1, 0.15, 0.2]}
BASE: dict[str, Any] = {
    "trajectories": {"circle": {"kind": "circle", "radius": 0.1, "period": 0.5}},
    "time": np.linspace(0.0, 0.5, 51),
    "metrics": ["peak_force"],
}
FILE = """\
limbsweep: 1
robot: delta_3rr2rrr
design: {list: {upper_arm: [0.2, 0.25, 0.3], base_radius: [0.1, 0.15, 0.2]}}
trajectories: {circle: {kind: circle, radius: 0.1, period: 0.5}}
time: {stop: 0.5, samples: 51}
metrics: [peak_force]
"""
MANY = 300
WIDE = {"upper_arm": np.linspace(0.2, 0.3, MANY), "base_radius": np.linspace(0.1, 0.2, MANY)}
T = np.linspace(0.0, 1.0, 30)
POINTS = 0.1 * np.stack([np.cos(T) - 1.0, np.sin(T), 0.0 * T], axis=1)


def made(**changes: Any) -> Sweep:
    return sweep(changes.pop("robot", "delta_3rr2rrr"), **{**BASE, **changes})


@pytest.mark.parametrize(
    "design",
    [
        COLUMNS,
        {"list": COLUMNS},
        {"list": pd.DataFrame(COLUMNS)},
        pd.DataFrame(COLUMNS),
        pd.DataFrame(COLUMNS).set_index("upper_arm"),
        pd.DataFrame(COLUMNS).to_records(index=False),
        xr.Dataset({name: ("design", values) for name, values in COLUMNS.items()}),
        xr.Dataset({"base_radius": ("upper_arm", COLUMNS["base_radius"])}, coords={"upper_arm": COLUMNS["upper_arm"]}),
        {"upper_arm [mm]": [200, 250, 300], "base_radius": COLUMNS["base_radius"]},
    ],
    ids=lambda design: type(design).__name__,
)
def test_tables_mean_what_a_list_in_a_file_means(design: Any) -> None:
    assert made(design=design).fingerprint == Sweep.from_text(FILE).fingerprint


@pytest.mark.parametrize("number", [np.float64, np.float32, np.longdouble, np.array, float])
def test_scalars_of_numpy_are_numbers(number: Any) -> None:
    arms = {"low": number(0.25), "high": np.float64(0.5)}
    sample = {"method": "sobol", "count": np.int64(4), "seed": np.uint8(1), "parameters": {"upper_arm": arms}}
    circle = {"kind": "circle", "radius": number(0.125), "period": 0.5}
    found = made(
        design={"sample": sample},
        parameters={"base_radius": number(0.125)},
        friction={"law": "viscous", "grid": {"viscous": [number(0.5), 1]}},
        gravity=[number(0.0), 0, number(-9.5)],
        trajectories={"circle": circle},
    )
    plain = made(
        design={"sample": {**sample, "count": 4, "seed": 1, "parameters": {"upper_arm": {"low": 0.25, "high": 0.5}}}},
        parameters={"base_radius": 0.125},
        friction={"law": "viscous", "grid": {"viscous": [0.5, 1]}},
        gravity=[0.0, 0, -9.5],
        trajectories={"circle": {**circle, "radius": 0.125}},
    )
    assert found.fingerprint == plain.fingerprint
    with pytest.raises(InputError, match="gravity: got an object of type ndarray; expected numbers"):
        made(gravity=np.array([0, 0, 1], "m8[ns]"))


def labelled(values: Any, units: str, *dims: str, **coords: Any) -> xr.DataArray:
    return xr.DataArray(np.asarray(values), dims=dims, coords=coords, attrs={"units": units})


def test_units_of_data_arrays_are_converted() -> None:
    times = labelled(1e3 * T, "ms", "time")
    points = labelled(1e3 * POINTS, "millimetre", "time", "axis", time=times)
    found = made(
        design={"grid": {"upper_arm": labelled([200, 250, 300], "mm", "arm")}},
        parameters={"base_radius": labelled(150.0, "mm")},
        time=labelled(np.linspace(0.0, 500.0, 51), "ms", "time"),
        outputs=["platform_position"],
        trajectories={"a": points, "b": (times, points), "c": {"t": times, "position": points}},
    )
    np.testing.assert_array_equal(found.design.values()["upper_arm"], [0.2, 0.25, 0.3])
    plain = made(
        parameters={"base_radius": 0.15},
        outputs=["platform_position"],
        trajectories={"a": (T, POINTS), "b": (T, POINTS), "c": (T, POINTS)},
    )
    assert found.parameters == plain.parameters
    np.testing.assert_allclose(found.times, plain.times, rtol=1e-15)
    moved, wanted = (compute(each)["platform_position"] for each in (found, plain))
    np.testing.assert_allclose(moved, wanted, atol=1e-12)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"design": {"grid": {"upper_arm": labelled([0.2], "kg", "a")}}}, "sweep design.grid.upper_arm.unit: got 'kg'; expected a unit of [m]"),
        ({"parameters": {"upper_arm": labelled(0.2, "ells")}}, "parameters.upper_arm: got the unit 'ells'; expected a known unit."),
        ({"time": labelled([0.0, 1.0], "fortnights", "time")}, "time: got the unit 'fortnights'; expected a known unit."),
        ({"trajectories": {"a": (T, labelled(POINTS, "kg", "time", "axis"))}}, "sweep trajectories.a.file: got the unit 'kg' of the column x; expected a unit of [m]."),
    ],
)  # fmt: skip
def test_units_that_cannot_be_meant_are_told(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as refused:
        made(**changes)
    assert str(refused.value).startswith(message)


def test_dims_of_a_dataset_are_a_grid_and_units_are_those_of_its_attributes() -> None:
    grid = xr.Dataset(coords={"upper_arm": ("upper_arm", [200.0, 250.0], {"units": "mm"}), "base_radius": [0.1, 0.2]})
    design = made(design=grid).design
    np.testing.assert_array_equal(design.values()["upper_arm"], [0.2, 0.2, 0.25, 0.25])
    np.testing.assert_array_equal(design.values()["base_radius"], [0.1, 0.2, 0.1, 0.2])


@pytest.mark.parametrize("design", [WIDE, pd.DataFrame(WIDE)], ids=["dict", "frame"])
def test_long_tables_are_files_that_mean_the_same_as_text(design: Any, tmp_path: Path) -> None:
    from_arrays = made(design=design)
    assert "design: {file: design.npz}" in from_arrays.text
    listed = {name: values.tolist() for name, values in WIDE.items()}
    text = FILE.replace(FILE.splitlines()[2], yaml_text({"design": {"list": listed}}).rstrip())
    assert from_arrays.fingerprint == Sweep.from_text(text).fingerprint
    assert from_arrays.to_yaml(tmp_path / "s.yaml") == from_arrays.text
    again = Sweep.from_yaml(tmp_path / "s.yaml")
    assert (again.fingerprint, again.sources) == (from_arrays.fingerprint, from_arrays.sources)
    with pytest.raises(InputError, match=r"s.yaml: got a file that is there already; expected a new file"):
        made(design=COLUMNS).to_yaml(tmp_path / "s.yaml")


def test_a_hundred_thousand_designs_as_dicts_are_a_table() -> None:
    rows = [{"upper_arm": 0.2 + 1e-7 * k, "base_radius": 0.15} for k in range(100_000)]
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    table = made(design=columns)
    for design in (rows, {"list": rows}):
        assert made(design=design).fingerprint == table.fingerprint
    assert made(design=rows).sizes["design"] == 100_000


def test_a_million_designs_are_told_by_a_digest() -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"upper_arm": rng.uniform(0.2, 0.3, 10**6), "base_radius": rng.uniform(0.1, 0.2, 10**6)})
    one = made(design=frame)
    assert plan(one).layout.sizes["design"] == 10**6
    assert len(one.text) < 1000
    ((_, column), _) = one.canonical["design"]["list"]
    assert column.keys() == {"sha256", "count"}
    frame.iloc[-1, 0] = 0.25
    assert made(design=frame).fingerprint != one.fingerprint


def test_a_store_keeps_arrays_and_grows(tmp_path: Path) -> None:
    short = {name: values[:200] for name, values in WIDE.items()}
    results = run(made(design=short), tmp_path / "s.zarr")
    np.testing.assert_array_equal(results["upper_arm"], short["upper_arm"])
    kept = stored_sweep(tmp_path / "s.zarr", tmp_path)
    assert kept.fingerprint == made(design=short).fingerprint
    longer = append(tmp_path / "s.zarr", made(design=WIDE))
    xr.testing.assert_equal(longer.load(), compute(made(design=WIDE)))


@pytest.mark.parametrize("suffix", [".csv", ".npy", ".npz", ".parquet"])
def test_files_of_designs_and_points(suffix: str, tmp_path: Path) -> None:
    frames = {
        "designs": pd.DataFrame({"base_radius": COLUMNS["base_radius"], "upper_arm [mm]": [200.0, 250.0, 300.0]}),
        "points": pd.DataFrame({"z": POINTS[:, 2], "x [mm]": POINTS[:, 0] * 1e3, "t": T, "y": POINTS[:, 1]}),
    }
    for name, frame in frames.items():
        _write(frame, tmp_path / f"{name}{suffix}")
    text = FILE.replace(FILE.splitlines()[2], f"design: {{file: designs{suffix}, columns: [upper_arm, base_radius]}}")
    text = text.replace("{kind: circle, radius: 0.1, period: 0.5}", f"{{kind: waypoints, file: points{suffix}}}")
    read = Sweep.from_text(text, folder=tmp_path)
    assert read.design.describe() == Sweep.from_text(FILE).design.describe()
    expected = np.column_stack([T, POINTS[:, 0] * 1e3 / 1e3, POINTS[:, 1:]])
    np.testing.assert_array_equal(read.trajectories[0].points, expected)


def _write(frame: Any, path: Path) -> None:
    if path.suffix == ".csv":
        path.write_text(frame.to_csv(index=False))
    elif path.suffix == ".npy":
        np.save(path, frame.to_records(index=False))
    elif path.suffix == ".npz":
        path.write_bytes(packed({name: frame[name].to_numpy() for name in frame.columns}))
    else:
        pytest.importorskip("pyarrow")
        frame.to_parquet(path)


@pytest.mark.parametrize(
    "points",
    [
        (T, POINTS),
        {"t": T, "position": POINTS},
        {"time": T, "x": POINTS[:, 0], "y": POINTS[:, 1], "z": POINTS[:, 2]},
        pd.DataFrame({"y": POINTS[:, 1], "t": T, "x": POINTS[:, 0], "z": POINTS[:, 2]}),
        xr.DataArray(POINTS[:, ::-1], dims=("time", "axis"), coords={"time": T, "axis": ["z", "y", "x"]}),
        np.column_stack([T, POINTS]),
    ],
    ids=lambda points: type(points).__name__,
)
def test_trajectories_as_arrays(points: Any) -> None:
    (trajectory,) = made(trajectories={"path": points}, time=(1.0, 0.01)).trajectories
    assert (trajectory.kind, trajectory.name) == ("waypoints", "path")
    np.testing.assert_array_equal(trajectory.points, np.column_stack([T, POINTS]))


def test_points_may_turn() -> None:
    turn = {"kind": "harmonic", "amplitude": np.array([0.1, 0.0, 0.0])}
    points = {"t": T, "position": POINTS, "turn": turn}
    (one,) = made(robot="gough_stewart", trajectories={"a": points}, time=(1.0, 0.01)).trajectories
    assert one.turn is not None
    assert one.turn.values["amplitude"] == (0.1, 0.0, 0.0)


@pytest.mark.parametrize("shape", ["triple", "dict"])
def test_rotations_as_arrays_are_those_of_the_platform(shape: str, tmp_path: Path) -> None:
    turned = Rotation.from_euler("xyz", np.stack([0.2 * np.sin(T), 0.1 * T**2, 0.3 * T], axis=1))
    whole = (T, POINTS * 0.1, turned.as_matrix())
    points: Any = whole if shape == "triple" else dict(zip(("t", "position", "rotation"), whole, strict=True))
    given = made(
        robot="gough_stewart",
        trajectories={"a": points},
        time=T,
        outputs=["platform_rotation", "platform_twist", "actuator_force"],
    )
    ds = compute(given).isel(trajectory=0)
    home = np.array(catalog.build("gough_stewart").mechanism.platform.home.rotation)
    np.testing.assert_allclose(ds["platform_rotation"], turned.as_matrix() @ home, atol=1e-12)
    assert (ds["status"] == 0).all()
    given.to_yaml(tmp_path / "s.yaml")
    assert Sweep.from_yaml(tmp_path / "s.yaml").fingerprint == given.fingerprint
    still = made(robot="gough_stewart", trajectories={"a": whole[:2]}, time=T, outputs=["actuator_force"])
    assert still.fingerprint != given.fingerprint


def test_joints_of_a_chain_as_arrays() -> None:
    robot = catalog.build("five_axis_tree")
    joints = robot.mechanism.freedoms
    angles = 0.1 * np.sin(T[:, None] * np.arange(1, len(joints) + 1))
    (one,) = made(robot=robot, trajectories=[(T, angles)], time=(1.0, 0.01)).trajectories
    frame = pd.DataFrame(angles[:, ::-1], columns=list(joints)[::-1]).assign(t=T)
    (other,) = made(robot="five_axis_tree", trajectories={"b": frame}, time=(1.0, 0.01)).trajectories
    np.testing.assert_array_equal(one.points, np.column_stack([T, angles]))
    np.testing.assert_array_equal(one.points, other.points)


def test_a_joint_may_be_called_turn() -> None:
    """Check the name `turn`, which for a platform is a section beside points."""
    joints = catalog.build("irb6").mechanism.freedoms
    assert "turn" in joints
    places = 0.1 * np.sin(np.outer(T, np.arange(1, 6)))
    by_name = {"t": T, **dict(zip(joints, places.T, strict=True))}
    one, two = (made(robot="irb6", trajectories={"move": points}) for points in (by_name, (T, places)))
    assert one.fingerprint == two.fingerprint


def test_trajectories_may_have_names_of_keys() -> None:
    circle = BASE["trajectories"]["circle"]
    for name in ("t", "time", "kind"):
        assert [each.name for each in made(trajectories={name: circle}).trajectories] == [name]


def test_robots_as_objects_and_files(tmp_path: Path) -> None:
    built = made(robot=catalog.build("delta_3rr2rrr", upper_arm=0.28, platform_radius=0.08), design=COLUMNS)
    assert built.text.splitlines()[1] == "robot: delta_3rr2rrr"
    assert built.fixed == {"platform_radius": 0.08}
    description = describe(catalog.build("five_bar"))
    of_description = made(
        robot=description, metrics=["peak_force"], trajectories={"c": {"kind": "circle", "normal": [0, 1, 0]}}
    )
    of_robot = made(robot=Robot.of(description.family, {}), trajectories={"c": {"kind": "circle", "normal": [0, 1, 0]}})
    assert of_description.fingerprint == of_robot.fingerprint
    assert of_description.description == description
    from robots.formats.writing import text

    (tmp_path / "mine.yaml").write_text(text(description))
    named = made(robot=tmp_path / "mine.yaml", trajectories={"c": {"kind": "circle", "normal": [0, 1, 0]}})
    assert named.fingerprint == of_robot.fingerprint


def _twins(values: Any) -> Mechanism:
    """A mechanism that no file can hold: two of its limbs share a name."""
    mechanism = catalog.build("five_bar").mechanism
    return replace(mechanism, limbs=(*mechanism.limbs, mechanism.limbs[0]))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"design": pd.DataFrame({"upper_arm": [0.2, np.nan]})}, "design: got NaN in row 1 of the column 'upper_arm'; expected a finite number. Drop such rows or fill them in."),
        ({"design": pd.DataFrame({"uper_arm": [0.2, 0.3]})}, "sweep design.list.uper_arm: got an unknown parameter; expected a known parameter. Did you mean 'upper_arm'?"),
        ({"design": pd.DataFrame({"uper_arm": np.full(99, 0.2)})}, "sweep design.file: got a column 'uper_arm'; expected columns that are parameters. Did you mean 'upper_arm'? Choose others with columns, or declare it under variables or labels."),
        ({"design": pd.DataFrame({"upper_arm": [0.2, 0.3]}, index=[1, 1])}, "design: got a DataFrame whose index has 1 twice; expected an index without duplicates. Use frame.reset_index(drop=True)."),
        ({"design": pd.DataFrame([[0.2, 0.3]], columns=["upper_arm", "upper_arm"])}, "design: got the column 'upper_arm' twice; expected every column once. Rename or drop one."),
        ({"design": [{"upper_arm": [0.2, 0.3]}, {"upper_arm": [0.2]}]}, "design: got lists of different lengths in the column 'upper_arm'; expected a number in each row. Give every row one number."),
        ({"design": np.ones((3, 2))}, "design: got an object of type ndarray of shape (3, 2); expected columns with names: a dict, a DataFrame, a Dataset, a structured array or a list of dicts. Name its columns: {'upper_arm': array[:, 0], ...}, or a DataFrame."),
        ({"design": {"upper_arm": [0.2, 0.3], "base_radius": [0.1]}}, "design: got columns of several lengths (upper_arm with 2, base_radius with 1); expected columns of one length."),
        ({"design": [{"upper_arm": 0.2}, {"base_radius": 0.1}]}, "design: got row 1 with 'base_radius'; expected a dict with the names of row 0: upper_arm. Give every row all names."),
        ({"design": {"upper_arm": np.ones((2, 2))}}, "design: got the column 'upper_arm' of shape (2, 2); expected a column of one dimension. Name each of its columns."),
        ({"design": {"upper_arm": ["a", "b"]}}, "design: got 'a' in the column 'upper_arm'; expected numbers."),
        ({"design": {"upper_arm": np.full(99, 200.0)}}, "sweep design.file: got 200.0 in row 0 of the column upper_arm; expected a number in [0.00025, 100] m. If these are millimetres, write 0.2."),
        ({"design": pd.DataFrame({"upper_arm [kg]": np.full(99, 0.2)})}, "sweep design.file: got the unit 'kg' of the column upper_arm; expected a unit of [m]. Known: m, dm, cm, mm, um."),
        ({"design": {"grid": {"upper_arm": np.linspace(0.2, 0.3, 20_000)}}}, "design.grid: got a grid of a parameter with more than 10,000 values; expected at most 10,000. Make all combinations yourself, such as by a DataFrame."),
        ({"robot": 3}, "robot: got an object of type int; expected the name of a robot, a robot file, or a robot."),
        ({"robot": Family("mine", "", "", (), _twins)}, "robot: got a robot of code ("),
        ({"time": np.array([0.1, 0.2, 0.3])}, "time: got times from 0.1 that are not evenly spaced from zero; expected evenly spaced times from zero. Such as numpy.linspace(0, 1, 1001), (stop, step), or {'stop': 1.0, 'samples': 1001}."),
        ({"trajectories": {"a": (T, POINTS[:, :2])}}, "trajectories.a: got times of shape (30,) with positions of shape (30, 2); expected shapes (points,) and (points, 3): x, y, z."),
        ({"trajectories": {"a": (T[::-1], POINTS)}}, "a.npz t: got 0.9655172413793103; expected a time later than 1.0 of the row before, by 1e-09 s at least."),
        ({"trajectories": {"a": pd.DataFrame({"t": T, "x": T})}}, "a.npz: got 't,x'; expected the columns t,x,y,z."),
        ({"trajectories": {"a": {"t": T}}}, "trajectories.a: got the keys t; expected t with position, or with x, y, z; or kind with its keys."),
        ({"trajectories": {"a": {"t": T, "position": POINTS, "rotatoin": T}}}, "trajectories.a: got the keys t, position, rotatoin; expected t with position, or with x, y, z; or kind with its keys."),
        ({"robot": "gough_stewart", "trajectories": {"a": (T, POINTS, np.eye(3))}}, "trajectories.a: got times of shape (30,) with rotations of shape (3, 3); expected shapes (points,) and (points, 3, 3)."),
        ({"robot": "gough_stewart", "trajectories": {"a": (T, POINTS, np.ones((30, 3, 3)))}}, "trajectories.a: got a matrix in row 0 that is no rotation; expected orthogonal matrices of determinant 1."),
        ({"robot": "gough_stewart", "trajectories": {"a": {"t": T, "position": POINTS, "rotation": np.full((30, 3, 3), np.nan)}}}, "trajectories.a: got a matrix in row 0 that is no rotation"),
        ({"robot": "gough_stewart", "trajectories": {"a": (T, POINTS, Rotation.from_rotvec(np.outer(np.linspace(0, 1.5, 30), [0, 1, 0])).as_matrix())}}, "trajectories.a: got a rotation in row 29 with a pitch of 86 degrees; expected a pitch of at most 85 degrees"),
        ({"trajectories": {"a": (T, POINTS, np.stack([np.eye(3)] * 30))}}, "sweep trajectories.a.turn: got a turn; expected no turn: the platform of this robot only translates. Remove it."),
        ({"trajectories": 3}, "trajectories.trajectory: got an object of type int of shape (); expected times and positions: (times, positions), or columns t, x, y, z."),
        ({"friction": 3}, "friction: got an object of type int; expected a dict with the law and the swept parameters. Such as friction={'law': 'coulomb_viscous', 'list': frame}."),
        ({"gravity": [0.0, 0.0, float("nan")]}, "gravity: got NaN; expected a finite number."),
        ({"limits": {"joints": object()}}, "limits.joints: got an object of type object; expected numbers, texts, lists and dicts."),
    ],
    ids=lambda value: None if isinstance(value, str) else "-".join(value),
)  # fmt: skip
def test_what_cannot_be_used_is_told_in_a_line(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as refused:
        made(**changes)
    (line,) = str(refused.value).splitlines()
    assert line.startswith(message)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("d.npy", b"no array", "d.npy: got a file that cannot be read"),
        ("d.npz", b"no archive", "d.npz: got a file that cannot be read"),
        ("d.parquet", b"no table", "d.parquet: got a file that is no Parquet file"),
        ("d.txt", b"text", "d.txt: got the ending '.txt'; expected one of .csv, .npy, .npz, .xlsx, .xlsm"),
        ("d.csv", b"upper_arm,base_radius\n0.2\n", "d.csv:2:1: got 1 cells; expected 2 cells."),
        ("d.csv", b"upper_arm\n0.2\nx\n", "d.csv:3:1 upper_arm: got 'x'; expected a finite number."),
        ("d.csv", b"0.1,0.2\n0.2,0.3\n", "d.csv:1:1: got '0.1,0.2'; expected a header of names."),
        ("d.csv", b"upper_arm\n", "d.csv: got 1 lines; expected a header and at least one row."),
        ("d.csv", b"upper_arm,mass\n0.2,1\n", "sweep:3:16 design.file: got a column 'mass'; expected columns that are"),
    ],
)
def test_files_that_are_no_tables_are_told_in_a_line(name: str, content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    text = FILE.replace(FILE.splitlines()[2], f"design: {{file: {name}}}")
    with pytest.raises(InputError) as refused:
        Sweep.from_text(text, folder=tmp_path)
    (line,) = str(refused.value).splitlines()
    assert line.removeprefix(f"{tmp_path}/").startswith(message)


def test_a_dict_is_no_text() -> None:
    with pytest.raises(InputError, match="got an object of type dict; expected the text of a sweep file"):
        Sweep.from_text({})  # type: ignore[arg-type]
    assert (
        Sweep.from_dict({"robot": "delta_3rr2rrr", "design": {"list": COLUMNS}, **BASE}).fingerprint
        == made(design=COLUMNS).fingerprint
    )
    with pytest.raises(InputError, match="sweep: got no key 'robot'"):
        Sweep.from_dict({})


def test_text_of_plain_data_is_read_back() -> None:
    data = {
        "a": 1, "b": -0.0, "c": 1e-300, "d": [1.5, 2, "x y", "1.0", "yes", "null", "", "é", "a: b"], "e": {"f": {}},
        "long": {str(k) + "key": [k / 7.0] * 30 for k in range(4)}, "t": True, "n": None, "text": "line\nbreak 'q' \"",
        "many": [k / 3.0 for k in range(100)],
    }  # fmt: skip
    assert parse_yaml(yaml_text(data), "t").data == data


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("parameters", 5, "parameters: got an object of type int; expected a dict of names and numbers"),
        ("parameters", [1, 2], "parameters: got an object of type list; expected a dict of names and numbers"),
        ("parameters", np.array([1.0, 2.0]), "parameters: got an object of type ndarray; expected a dict"),
        ("title", np.array([1.0, 2.0]), "title"),
        ("folder", 3, "folder: got int; expected a path"),
    ],
)
def test_a_section_of_another_type_is_told(key: str, value: object, message: str) -> None:
    sections = {"design": {"proximal_length": [0.5]}, "time": (1.0, 0.1), "metrics": "peak_force"}
    circle = {"c": {"kind": "circle", "radius": 0.05, "normal": [0, 1, 0]}}
    with pytest.raises(InputError, match=re.escape(message)):
        sweep("five_bar", trajectories=circle, **{**sections, key: value})


def test_an_empty_section_of_a_release_is_kept() -> None:
    made = sweep("delta_3rr2rrr", time=(0.1, 0.05), outputs=["platform_position"], simulation={})
    assert parse_yaml(made.text, "f").data["simulation"] == {}
