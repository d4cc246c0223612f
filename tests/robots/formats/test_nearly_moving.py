"""Parallelograms whose bars differ by roundings: frames are moved by as little as lets them move, and this is told."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.imports.table import imported
from pipeline.errors import InputError
from pipeline.robot_files.importing import import_robot
from robots.formats.checks import GAP
from robots.formats.nearly_moving import nearly_moving
from robots.formats.tree import Tree
from robots.formats.urdf import read_tree
from robots.model import Robot
from tasks import inverse_dynamics, inverse_kinematics
from tests.robots.formats.mjcfs import FOUR_BAR

PINS = ("0 0 0", "0.4 0.1 0", "0.2 0.05 0")
ARM = np.array([0.05, 0.3, 0.0])


def parallelogram(error: float = 0.0, kind: str = "revolute") -> bytes:
    """Return a bar on three parallel cranks, of which one is longer by an error [m]: one crank more than it needs."""
    mass = (
        '<inertial><origin xyz="0.1 0.1 0"/><mass value="1"/><inertia ixx=".01" iyy=".02" izz=".02" ixy="0" ixz="0"'
        ' iyz="0"/></inertial>'
    )
    links = '<link name="o"/>' + "".join(f'<link name="{name}">{mass}</link>' for name in ("c0", "c1", "c2", "bar"))
    joints = "".join(
        f'<joint name="j{k}" type="continuous"><parent link="o"/><child link="c{k}"/><origin xyz="{pin}"/>'
        '<axis xyz="0 0 1"/></joint>'
        for k, pin in enumerate(PINS)
    )
    at = " ".join(map(str, ARM))
    joints += (
        f'<joint name="top" type="continuous"><parent link="c0"/><child link="bar"/><origin xyz="{at}"/>'
        '<axis xyz="0 0 1"/></joint>'
    )
    longer = " ".join(map(str, ARM * (1.0 + error / np.linalg.norm(ARM))))
    loops = "".join(
        f'<loop_joint name="p{k}" type="{kind}"><link1 link="bar" xyz="{PINS[k]}"/>'
        f'<link2 link="c{k}" xyz="{longer if k == 2 else at}"/><axis xyz="0 0 1"/></loop_joint>'
        for k in (1, 2)
    )
    return f'<robot name="bars">{links}{joints}{loops}</robot>'.encode()


def tree(error: float) -> Tree:
    return read_tree(parallelogram(error))


def test_an_exact_parallelogram_stays_as_it_is() -> None:
    assert nearly_moving(tree(0.0), np.zeros(4)) is None


@pytest.mark.parametrize("error", [3e-8, 2e-5])
def test_a_longer_crank_is_shortened_by_less_than_its_error(error: float, tmp_path: Path) -> None:
    path = tmp_path / "r.urdf"
    path.write_bytes(parallelogram(error))
    made = import_robot(path, parameters=False)
    told = " ".join(f"{each.got} {each.hint}" for each in made.warnings if " moved" in each.hint)
    if error < GAP:
        shift = float(told.partition("are moved, by at most ")[2].split()[0])
        assert 0.1 * error < shift < error
    else:
        assert "a gap of " in told
    robot, states = Robot.of(made.description.family, {}), np.linspace(-0.4, 0.4, 9)[:, None]
    assert not inverse_kinematics(robot, q=states).status.any()
    path.write_bytes(parallelogram())
    exact = Robot.of(import_robot(path, parameters=False).description.family, {})
    forces = [inverse_dynamics(each, q=states, qd=states, qdd=states).force for each in (robot, exact)]
    np.testing.assert_allclose(forces[0], forces[1], rtol=0, atol=100 * error)


@pytest.mark.parametrize("shift", [1e-8, 0.0])
def test_loops_have_samples_or_are_told_to_have_none(shift: float, tmp_path: Path) -> None:
    """Gaps of 1e-9 m that no frames take, of axes that are a little skew, are told: samples are LOOP_OPEN."""
    exact, moved = parallelogram(shift).decode(), 0
    for seed in range(4):
        random = np.random.default_rng(seed)
        first, *parts = exact.split('<axis xyz="0 0 1"/>')
        tilts = (1e-8 - shift) * random.normal(size=(len(parts), 2))
        skew = (f'<axis xyz="{x!r} {y!r} 1"/>{part}' for (x, y), part in zip(tilts.tolist(), parts, strict=True))
        path = tmp_path / f"{seed}.urdf"
        path.write_text("".join([first, *skew]))
        try:
            made = import_robot(path, parameters=False)
        except InputError:
            continue
        robot = Robot.of(made.description.family, {})
        lost = inverse_kinematics(robot, q=np.linspace(-0.4, 0.4, 9)[:, None]).status.any()
        moved += any(" moved" in each.hint for each in made.warnings)
        assert lost == any("which no change of frames takes" in each.got for each in made.warnings)
    assert moved or not shift


def test_bars_that_are_no_parallelogram_stay_rigid() -> None:
    """A triangle of struts moves with large gaps alone; so does a crank that is longer by a tenth."""
    for error in (0.03, 0.01):
        near = nearly_moving(tree(error), np.zeros(4))
        assert near is None


@pytest.mark.usefixtures("compiled_once")
def test_forces_of_a_moved_model_are_those_of_mujoco(tmp_path: Path) -> None:
    """Along our ways, with two connects of each hinge: loops of the engine itself stay open by the roundings."""
    pytest.importorskip("mujoco")
    crank = (
        '<body name="rocker" pos="0.5 0 0"><joint name="d"/><geom fromto="0 0 0 0 0.2 0"/></body>'
        '<body name="middle" pos="0.25 0 0"><joint name="e"/><geom fromto="0 0 0 0 0.2 0"/></body>'
    )
    start, end = FOUR_BAR.index('<body name="rocker"'), FOUR_BAR.index("</worldbody>")
    text = FOUR_BAR[:start] + crank + FOUR_BAR[end:]
    sites = "".join(
        f'<site name="{body}{z}" pos="{x} {y} {z}"/>'
        for body, x, y in (("f", 0.5, 0), ("g", 0.25, 0.00000004))
        for z in (0, 0.1)
    )
    text = text.replace('<geom fromto="0 0 0 0.5 0.1 0"/>', '<geom fromto="0 0 0 0.5 0 0"/>' + sites)
    for name in ("d", "e"):
        ends = "".join(f'<site name="{name}{z}" pos="0 0.2 {z}"/>' for z in (0, 0.1))
        text = text.replace(f'<joint name="{name}"/>', f'<joint name="{name}"/>{ends}')
    pairs = "".join(f'<connect site1="{a}{z}" site2="{b}{z}"/>' for a, b in (("f", "d"), ("g", "e")) for z in (0, 0.1))
    text = text.replace('<connect name="pin" body1="coupler" body2="rocker" anchor="0.5 0.1 0"/>', pairs)
    path = tmp_path / "m.xml"
    path.write_text(text)
    found = imported(path)
    assert found.refused == ""
    assert found.errors is not None
    assert found.errors.closed
    assert found.errors.largest < 1e-12
