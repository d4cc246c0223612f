"""Loads in sweep files: forces and reactions are those of the functions, for any blocks; numbers are parameters."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import limbsweep as ls
from applications.identification.excite import excite
from pipeline import Sweep, run
from pipeline.errors import InputError
from pipeline.robot_files.reader import parse_robot
from robots import catalog
from robots.loads.declared import LoadError, ObjectLoad, SpringLoad, WrenchLoad
from robots.loads.family import signal_values, with_loads
from robots.parameter_errors import ParameterError
from robots.status import Status
from tasks import inverse_dynamics, joint_reactions
from tasks.dynamics.simulate import simulate
from tests.pipeline.robot_files.arm import ARM
from tests.pipeline.runs import SYNCHRONOUS, content_hash, cut_finely

TEXT = """\
limbsweep: 1
robot: delta_3rr2rrr
loads:
  balancer: {kind: spring, body: arm, at: [0.1, 0, 0], to: [0, 0, 0.3], stiffness: 300, rest_length: 0.1, damping: 2}
  process: {kind: wrench, body: platform, force: [0, 0, "-20 * sin(2 * pi * t) * payload_mass"], axes: platform}
  cutting: {kind: wrench, body: limb2.rod_a, at: [0, 0, 0.1], file: cutting.csv, axes: link}
  gripped: {kind: object, body: platform, mass: 1.0, at: [0, 0, -0.1], inertia: [0.1, 0.2, 0.3], from: 0.1, until: 0.3}
design: {grid: {balancer_stiffness: [0, 300, 600], gripped_mass: [0.5, 1.0], cutting_scale: [1, 2]}}
parameters: {payload_mass: 0.5}
trajectories: {circle: {kind: circle, radius: 0.1, period: 0.5}, line: {kind: line_sine, amplitude: [0.1, 0, 0.05]}}
time: {stop: 0.5, step: 0.05}
outputs: [actuator_force, joint_reaction, mass_matrix, platform_position, platform_twist, platform_acceleration]
metrics: [peak_force, peak_reaction]
"""
TABLE = np.array([[0.0, 0.1, 0, 0.2, 0, 0, 0], [0.2, 0, 0.3, 0, 5.0, 0, -7.0], [0.6, 0, 0, 0, 0.0, 9.0, 1.0]])


def sweep(folder: Path) -> Sweep:
    np.savetxt(folder / "cutting.csv", TABLE, delimiter=",", header="t,mx,my,mz,fx,fy,fz", comments="")
    path = folder / "sweep.yaml"
    path.write_text(TEXT)
    return Sweep.from_yaml(path)


def same_loads() -> dict[str, Any]:
    return {
        "balancer": SpringLoad("arm", 300.0, (0.1, 0.0, 0.0), (0.0, 0.0, 0.3), 0.1, 2.0),
        "process": WrenchLoad("platform", (0.0, 0.0, "-20 * sin(2 * pi * t) * payload_mass"), axes="platform"),
        "cutting": WrenchLoad("limb2.rod_a", at=(0.0, 0.0, 0.1), axes="link", points=TABLE, scale=1.0),
        "gripped": ObjectLoad("platform", 1.0, (0.0, 0.0, -0.1), (0.1, 0.2, 0.3), 0.1, 0.3),
    }


def test_a_sweep_is_the_functions_for_the_robot_with_the_same_loads(tmp_path: Path) -> None:
    results = run(sweep(tmp_path), cluster=SYNCHRONOUS)
    assert not results["worst_status"].values.any()
    loaded, times = with_loads(catalog.build("delta_3rr2rrr", payload_mass=0.5), same_loads()), results["time"].values
    for design in (0, 7, 11):
        part = results.isel(design=design)
        values = {name: float(part[name]) for name in ("balancer_stiffness", "gripped_mass", "cutting_scale")}
        robot = type(loaded).of(loaded.family, {**loaded.values, **values})
        for name in ("circle", "line"):
            along = part.sel(trajectory=name)
            moving = {key: along[f"platform_{key}"].values for key in ("position", "twist", "acceleration")}
            force = inverse_dynamics(robot, **moving, time=times).force
            assert np.abs(along["actuator_force"].values - force).max() < 1e-11
            reactions = joint_reactions(robot, **moving, time=times).wrench
            assert np.nanmax(np.abs(along["joint_reaction"].values - reactions)) < 1e-10


def test_what_is_picked_counts_from_then_on_until_it_is_released(tmp_path: Path) -> None:
    results = run(sweep(tmp_path), cluster=SYNCHRONOUS).isel(design=2)
    assert float(results["gripped_mass"]) == 1.0
    mass = results["mass_matrix"].sel(trajectory="circle", freedom="vz", freedom_column="vz").values
    less = mass - float(results["gripped_mass"]) * np.array([0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0])
    bare = ls.equations_of_motion(
        catalog.build("delta_3rr2rrr", payload_mass=0.5),
        position=results["platform_position"].sel(trajectory="circle").values,
    ).mass[:, 2, 2]
    assert np.abs(less - bare).max() < 1e-12


def test_a_spring_without_rest_length_balances_an_arm_at_every_angle() -> None:
    """Check a balancer: with k a b = m g l the motor torque is zero in every direction of the arm."""
    robot = catalog.build("planar_3r")
    links = robot.mechanism.limbs[0].links
    masses = np.array([link.inertia.mass for link in links], dtype=float)
    q = np.random.default_rng(1).uniform(-3.0, 3.0, (20, 3))
    heavy = inverse_dynamics(robot, q=q, gravity=(0.0, -9.81, 0.0)).force
    assert np.abs(heavy[:, 2]).max() > 1.0
    # the last link alone: its centre follows from what gravity asks of its joint
    arm, height = 0.1, 0.2
    last = links[2]
    lever = np.linalg.norm(np.array(last.inertia.centre, dtype=float))
    stiffness = masses[2] * 9.81 * lever / (arm * height)
    along = tuple(arm * np.array(last.inertia.centre, dtype=float) / lever)
    at_rest = q.copy()
    at_rest[:, :2] = 0.0  # the last joint stands still in the base: its anchor is above it
    shift = np.array(links[0].placement.position, dtype=float) + links[1].placement.position + last.placement.position
    anchor = tuple(shift + np.array([0.0, height, 0.0]))
    balanced = with_loads(robot, {"spring": SpringLoad(last.body, stiffness, along, anchor)})  # type: ignore[arg-type]
    left = inverse_dynamics(balanced, q=at_rest, gravity=(0.0, -9.81, 0.0)).force
    assert np.abs(left[:, 2]).max() < 1e-12 * stiffness


def test_results_do_not_depend_on_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = sweep(tmp_path)
    whole = run(made, cluster=SYNCHRONOUS)
    cut_finely(monkeypatch, small=11)
    assert content_hash(run(made, cluster=SYNCHRONOUS)) == content_hash(whole)


def test_the_store_reads_its_sweep_again_with_its_loads(tmp_path: Path) -> None:
    made = sweep(tmp_path)
    again = Sweep.from_text(made.text, folder=tmp_path)
    assert again.fingerprint == made.fingerprint
    other = Sweep.from_text(made.text.replace("rest_length: 0.1", "rest_length: 0.2"), folder=tmp_path)
    assert other.fingerprint != made.fingerprint
    moved = Sweep.from_text(made.text.replace("until: 0.3", "until: 0.4"), folder=tmp_path)
    assert moved.fingerprint != made.fingerprint


def test_records_make_the_sweep_that_a_file_makes(tmp_path: Path) -> None:
    made = sweep(tmp_path)
    data = {"trajectories": {"circle": {"kind": "circle", "radius": 0.1, "period": 0.5}}, "time": (0.5, 0.05)}
    parts = {**data, "parameters": {"payload_mass": 0.5}, "metrics": ["peak_force"]}
    of_records = ls.sweep("delta_3rr2rrr", loads=same_loads(), **parts)  # type: ignore[arg-type]
    assert of_records.description == made.description
    of_arrays = {"kind": "wrench", "body": "limb2.rod_a", "at": [0, 0, 0.1], "axes": "link", "file": TABLE}
    of_dicts = ls.sweep("delta_3rr2rrr", loads=same_loads() | {"cutting": of_arrays}, **parts)  # type: ignore[arg-type]
    assert of_dicts.fingerprint == of_records.fingerprint
    with pytest.raises(InputError, match="tool: got an array of shape"):
        ls.sweep("delta_3rr2rrr", loads={"tool": {"kind": "wrench", "body": "arm", "file": TABLE[:, :3]}}, **parts)  # type: ignore[arg-type]


def test_samples_at_the_edges_of_a_grasp_do_not_depend_on_rounding() -> None:
    family = with_loads(catalog.build("planar_3r"), {"o": ObjectLoad("*", 1.0, start=0.3, stop=0.6)}).family
    times = np.arange(11) * 0.1
    assert signal_values(family, times)[0].tolist() == [0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0]


def test_what_changes_with_time_wants_a_time() -> None:
    robot = with_loads(catalog.build("planar_3r"), {"o": ObjectLoad("*", 1.0, start=0.3)})
    q = np.zeros(3)
    with pytest.raises(ValueError, match="time: got none, and loads of planar_3r change with it"):
        inverse_dynamics(robot, q=q)
    with pytest.raises(ValueError, match="loads of planar_3r change with time"):
        ls.linearisation(robot, q=q, forces=ls.Forces(actuator=q))
    with pytest.raises(ValueError, match="time: no load of planar_3r changes with time; leave it out"):
        inverse_dynamics(catalog.build("planar_3r"), q=q, time=0.0)
    with pytest.raises(ValueError, match="time: got none, and loads of planar_3r change with it"):
        ls.forward_dynamics(robot, q=q, forces=ls.Forces(actuator=q))
    with pytest.raises(ValueError, match="time: no load of planar_3r changes with time; leave it out"):
        ls.forward_dynamics(catalog.build("planar_3r"), q=q, time=0.0, forces=ls.Forces(actuator=q))
    delta = with_loads(catalog.build("delta_3rr2rrr"), {"o": ObjectLoad("platform", 1.0, start=0.3)})
    with pytest.raises(TypeError, match=r"form: got it with .* loads that change with time"):
        simulate(delta, force=q, step=0.1, steps=1, form="joint")


def test_a_table_reaches_to_the_end_of_a_simulation(tmp_path: Path) -> None:
    np.savetxt(tmp_path / "cutting.csv", TABLE, delimiter=",", header="t,mx,my,mz,fx,fy,fz", comments="")
    text = (
        "limbsweep: 1\nrobot: planar_3r\nloads: {cut: {kind: wrench, body: link_3, file: cutting.csv}}\n"
        "simulation: {}\ntime: {stop: 1, step: 0.1}\noutputs: [joint_position]\n"
    )
    (tmp_path / "sweep.yaml").write_text(text)
    with pytest.raises(InputError, match=r"loads\.cut\.file"):
        Sweep.from_yaml(tmp_path / "sweep.yaml")


def test_a_load_that_is_no_number_is_told_where_bearings_alone_feel_it() -> None:
    results = ls.compute(
        ls.sweep(
            "five_bar",
            trajectories={"circle": {"kind": "circle", "radius": 0.05, "normal": [0, 1, 0], "period": 0.8}},
            time={"stop": 1.0, "step": 0.1},
            outputs=["joint_reaction"],
            metrics=["peak_force"],
            loads={"across": {"kind": "wrench", "body": "platform", "force": [0, "sqrt(0.55 - t)", 0]}},
        )
    )
    none = results["time"].values > 0.55
    assert (results["status"].squeeze().values == np.where(none, Status.NONFINITE, Status.OK)).all()
    assert np.isfinite(results["joint_reaction"].squeeze().values[~none]).any()


def test_robots_of_code_with_one_name_and_the_same_loads_are_two() -> None:
    loads = {"s": SpringLoad("*", 100.0)}
    first = catalog.build("planar_3r")
    family = replace(catalog.family("planar_3r"), assemble=lambda p: catalog.family("planar_3r").assemble(p))
    second = type(first).of(family, {})
    assert with_loads(first, loads).family == with_loads(catalog.build("planar_3r"), loads).family
    assert with_loads(first, loads).family != with_loads(second, loads).family


def test_a_simulated_sweep_counts_springs_and_wrenches() -> None:
    """Released beside a spring, the arm goes where functions that integrate its equations take it."""
    text = (
        "limbsweep: 1\nrobot: planar_3r\nloads: {s: {kind: spring, body: '*', at: [0.1, 0, 0], to: [0.5, 0.5, 0], "
        "stiffness: 20, rest_length: 0.1, damping: 0.5}, "
        "w: {kind: wrench, body: '*', force: [0.5, 0, 0], axes: link}}\n"
        "simulation: {}\ntime: {stop: 0.2, step: 0.001}\noutputs: [joint_position]\n"
    )
    found = run(Sweep.from_text(text), cluster=SYNCHRONOUS)["joint_position"].values.reshape(201, -1)
    spring = SpringLoad("*", 20.0, (0.1, 0.0, 0.0), (0.5, 0.5, 0.0), 0.1, 0.5)
    robot = with_loads(catalog.build("planar_3r"), {"s": spring, "w": WrenchLoad("*", (0.5, 0.0, 0.0), axes="link")})
    step, q, qd = 0.001, np.zeros(3), np.zeros(3)

    def rate(q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        return np.asarray(ls.forward_dynamics(robot, q=q, qd=qd, forces=ls.Forces(actuator=np.zeros(3))).acceleration)

    for _ in range(20):
        slopes: list[tuple[np.ndarray, np.ndarray]] = []
        for share in (0.0, 0.5, 0.5, 1.0):
            dq, dqd = slopes[-1] if slopes else (qd, rate(q, qd))
            slopes.append((qd + share * step * dqd, rate(q + share * step * dq, qd + share * step * dqd)))
        weights = (1.0, 2.0, 2.0, 1.0)
        q = q + step / 6.0 * sum(w * s[0] for w, s in zip(weights, slopes, strict=True))
        qd = qd + step / 6.0 * sum(w * s[1] for w, s in zip(weights, slopes, strict=True))
    np.testing.assert_allclose(found[20], q, rtol=1e-9, atol=1e-12)
    assert np.abs(found[20]).max() > 1e-5


def test_other_formulations_refuse_what_they_do_not_count() -> None:
    robot = with_loads(catalog.build("planar_3r"), {"s": SpringLoad("*", 100.0)})
    q = np.zeros(3)
    for call in (
        lambda: ls.regressor(robot, q=q).matrix,
        lambda: ls.bias_vector(robot, q=q, qd=q),
        lambda: ls.lagrange_coefficients(robot, q=q),
    ):
        with pytest.raises(ValueError, match="springs or wrenches act on bodies of planar_3r, which are not counted"):
            call()
    text = (
        TEXT.split("trajectories")[0]
        .replace("file: cutting.csv", "force: [1, 0, 0]")
        .replace(", cutting_scale: [1, 2]", "")
    )
    motion = "trajectories: {one: {kind: random_fourier, seed: 1, position: 0.1}}\ntime: {stop: 1, step: 0.1}\n"
    with pytest.raises(ParameterError, match="got loads on bodies, or a base that moves"):
        excite(Sweep.from_text(text + motion + "outputs: [actuator_force]\n"))
    with pytest.raises(LoadError, match="got a robot that has loads; expected one without"):
        with_loads(robot, {"t": SpringLoad("*", 1.0)})


def test_a_parameter_called_as_the_time_is_refused_in_loads_that_depend_on_it() -> None:
    arm = parse_robot(ARM.replace("length", "t"), "arm").family
    loads = {"push": {"kind": "wrench", "body": "lower", "force": ["100 * t", 0, 0]}}
    sections: dict[str, Any] = {
        "robot": arm,
        "design": {"t": [0.4, 0.5]},
        "time": (1.0, 0.1),
    }
    sections["trajectories"] = {"s": {"kind": "harmonic", "amplitude": 0.1, "period": 1.0}}
    rule = r"loads\.push\.force\[0\]: got 't', a parameter, and the time; expected one meaning of a name\. Rename the "
    with pytest.raises(InputError, match=rule + r"parameter\.$"):
        ls.sweep(**sections, outputs="actuator_force", loads=loads)
    still = {"push": {**loads["push"], "force": [100, 0, 0]}}
    found = ls.compute(ls.sweep(**sections, outputs="actuator_force", loads=still)).actuator_force
    assert not np.array_equal(found[0], found[1])
