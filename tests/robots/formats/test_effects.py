"""Effects on dynamics in every format: they are read or refused; neutral values pass in silence."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from applications.commands.cli import cli
from pipeline.errors import InputError
from pipeline.robot_files.importing import import_robot
from robots.formats import effects, sdf, urdf
from robots.formats.xml_tree import ImportedError, parse
from robots.model import Robot
from tasks import inertia_matrix, inverse_dynamics
from tests.robots.formats.mjcfs import ARM as MODEL
from tests.robots.formats.test_sdf import ARM, BODY, file, joint, link

INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
URDF = f"""<robot name="r"><link name="a"/><link name="b">{INERTIAL}</link><joint name="j" type="continuous">
<parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint>HERE</robot>"""
SAYING = {
    effects._true: ("true", "false"),
    effects._false: ("false", "true"),
    effects._nonzero: ("0.5", "0.0"),
    effects._pushes: ("gz-thruster", "camera"),
}
"""Texts by rule: one that changes dynamics, and a neutral one."""


def element_of(effect: effects.Effect, tag: str, text: str) -> str:
    """An element that says a text, a plugin by the name of its file."""
    named = effect.says is effects._pushes
    return f'<{tag} name="p" filename="{text}"/>' if named else f"<{tag}>{text}</{tag}>"


def urdf_with(effect: effects.Effect, text: str) -> bytes:
    outer, _, tag = effect.path.rpartition("/")
    element = element_of(effect, tag, text)
    return URDF.replace("HERE", f'<gazebo reference="b">{element}</gazebo>' if outer == "gazebo" else element).encode()


def sdf_with(effect: effects.Effect, text: str) -> bytes:
    outer, _, tag = effect.path.rpartition("/")
    element = element_of(effect, tag, text)
    whole = file(*ARM).decode()
    if outer == "world":
        return (
            whole.replace("<model", f'<world name="w">{element}<model').replace("</model>", "</model></world>").encode()
        )
    place = {"link": '<link name="upper">', "inertial": "<inertial>", "dynamics": "<dynamics>"}
    start = place.get(outer, '<model name="arm">')
    assert start in whole
    return whole.replace(start, start + element, 1).encode()


ROWS = [
    pytest.param(reader, make, effect, id=f"{name}: {effect.path}")
    for name, reader, make, table in (
        ("URDF", urdf.read_tree, urdf_with, effects.URDF),
        ("SDF", sdf.read_tree, sdf_with, effects.SDF),
    )
    for effect in table
]


@pytest.mark.parametrize(("reader", "make", "effect"), ROWS)
def test_an_effect_is_refused_or_left_out_by_name(reader: object, make: object, effect: effects.Effect) -> None:
    assert callable(reader)
    assert callable(make)
    text, harmless = SAYING.get(effect.says, ("", None))
    with pytest.raises(ImportedError) as caught:
        reader(make(effect, text))
    (problem,) = caught.value.problems
    assert problem.got == effect.got
    assert problem.hint == f"Leave it out: --leave-out {effect.kind}."
    left = reader(make(effect, text), leave_out=(effect.kind,))
    assert [each.hint for each in left.warnings if each.got == effect.got] == ["It is left out."]
    with pytest.raises(ImportedError):
        reader(make(effect, text), leave_out=[kind for kind in effects.KINDS if kind != effect.kind])
    if harmless is not None:
        assert [each for each in reader(make(effect, harmless)).warnings if each.got == effect.got] == []


MODELS = {
    "springs": ('name="bend"', 'name="bend" stiffness="3"'),
    "springs, of the square alone": ('name="bend"', 'name="bend" stiffness="0 0 3"'),
    "gravity": ('<body name="arm"', '<body name="arm" gravcomp="1"'),
    "fluid": ("<worldbody>", '<option density="1.2"/><worldbody>'),
    "tendons": (
        "<equality>", '<tendon><fixed name="t" stiffness="2"><joint joint="bend" coef="1"/></fixed></tendon><equality>'
    ),
    "tendons, dampers of the square alone": (
        "<equality>", '<tendon><fixed name="t" damping="0 2"><joint joint="bend" coef="1"/></fixed></tendon><equality>'
    ),
    "constraints": (
        "<equality>",
        '<tendon><fixed name="t"><joint joint="bend" coef="1"/></fixed></tendon><equality><tendon tendon1="t"/>',
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.usefixtures("compiled_once")
def test_effects_of_models_of_mujoco(kind: str, tmp_path: Path) -> None:
    pytest.importorskip("mujoco", reason="MuJoCo is missing")
    path, (old, new), kind = tmp_path / "m.xml", MODELS[kind], kind.partition(",")[0]
    assert old in MODEL
    path.write_text(MODEL.replace(old, new, 1))
    with pytest.raises(InputError, match=f"--leave-out {kind}"):
        import_robot(path)
    warnings = import_robot(path, leave_out=(kind,)).warnings
    assert [each.hint for each in warnings if "a robot file can express" in each.expected] == ["It is left out."]
    path.write_text(MODEL)
    assert import_robot(path).warnings == ()


def test_rotors_of_drake_in_sdf_are_armatures() -> None:
    """The matrix of a joint grows by the rotor times the square of its gear."""
    q = np.array([0.3, -0.2])
    rotor = "<drake:rotor_inertia>2e-4</drake:rotor_inertia><drake:gear_ratio>30</drake:gear_ratio>"
    whole = file(*ARM).decode().replace("<sdf ", '<sdf xmlns:drake="d" ', 1)
    geared = whole.replace('<joint name="elbow" type="revolute">', f'<joint name="elbow" type="revolute">{rotor}')
    matrices = [
        inertia_matrix(Robot.of(sdf.read_tree(text.encode()).description().family, {}), q=q).matrix
        for text in (whole, geared)
    ]
    np.testing.assert_allclose(matrices[1] - matrices[0], np.diag([0.0, 2e-4 * 30**2]), atol=1e-12)
    with pytest.raises(ImportedError, match="numbers of at least 0"):
        sdf.read_tree(geared.replace("2e-4", "-2e-4").encode())


def test_a_mimic_of_sdf_is_a_coupling() -> None:
    mimic = '<mimic joint="shoulder"><multiplier>-2</multiplier></mimic>'
    wrist = joint("wrist", "fore", "tool", "0 0 1", more=mimic)
    tree = sdf.read_tree(file(*ARM, link("tool", "0.4 0.3 1.1 0 0 0"), wrist))
    assert [(each.joint, each.of, each.ratio) for each in tree.couplings] == [("wrist", "shoulder", -2.0)]
    second = wrist.replace('<mimic joint="shoulder">', '<mimic joint="shoulder" axis="axis2">')
    with pytest.raises(ImportedError, match="a mimic of a second axis"):
        sdf.read_tree(file(*ARM, link("tool", "0 0 1 0 0 0"), second))
    with pytest.raises(ImportedError, match="got a mimic of 'shouldr'"):
        sdf.read_tree(file(*ARM, link("tool", "0 0 1 0 0 0"), wrist.replace('"shoulder"', '"shouldr"')))


@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
def test_offsets_of_mimics_of_sdf_and_mimics_of_mimics_are_those_of_the_file(kind: str) -> None:
    """A follower is at ratio times (leader - reference) + offset; forces are those of the same arm without mimics."""
    mimic = '<mimic joint="{}"><multiplier>{}</multiplier><offset>{}</offset><reference>{}</reference></mimic>'
    tools = (link("tool", "0.4 0.3 1.1 0 0 0"), link("tip", "0.5 0.3 1.2 0.1 0.2 0"))
    joints = (
        joint("wrist", "fore", "tool", "0 0.6 0.8", more="LAW1", kind=kind),
        joint("end", "tool", "tip", "1 0 0", more="LAW2"),
    )
    text = file(*ARM, *tools, *joints).decode()
    coupled = text.replace("LAW1", mimic.format("shoulder", -2.0, 0.1, 0.3))
    coupled = coupled.replace("LAW2", mimic.format("wrist", 0.5, 0.2, 0.0))
    trees = [sdf.read_tree(each.encode()) for each in (text.replace("LAW1", "").replace("LAW2", ""), coupled)]
    loose, follows = (Robot.of(tree.description().family, {}) for tree in trees)
    assert sum("a mimic with offset" in str(each) for each in trees[1].warnings) == 2
    assert [(each.joint, each.of, each.ratio) for each in trees[1].couplings] == [
        ("wrist", "shoulder", -2.0), ("end", "shoulder", -1.0),
    ]  # fmt: skip
    q, qd, qdd = np.random.default_rng(4).normal(size=(3, 2))
    first = loose.mechanism.freedoms.index("shoulder")
    wrist = -2.0 * (q[first] - 0.3) + 0.1
    along = np.array([[1.0, 0.0], [0.0, 1.0], -2.0 * np.eye(2)[first], -1.0 * np.eye(2)[first]])
    full = inverse_dynamics(loose, q=[*q, wrist, 0.5 * wrist + 0.2], qd=along @ qd, qdd=along @ qdd).force
    np.testing.assert_allclose(inverse_dynamics(follows, q=q, qd=qd, qdd=qdd).force, along.T @ full, rtol=1e-12)


def test_the_command_leaves_out_what_it_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "r.urdf").write_bytes(urdf_with(effects.URDF[0], "true"))
    run = CliRunner().invoke
    refused = run(cli, ["import", "r.urdf"])
    assert refused.exit_code == 2
    assert "r.urdf:2:1 gazebo b: got a link without weight" in refused.output
    unknown = run(cli, ["import", "r.urdf", "--leave-out", "gravty"])
    assert unknown.exit_code == 2
    assert "--leave-out: got 'gravty'; expected one of armature, constraints" in unknown.output
    assert run(cli, ["import", "r.urdf", "--leave-out", "gravity"]).exit_code == 0


def test_paths_of_effects_are_ends() -> None:
    """Check that a path matches at its end alone: a tag deep inside something else is no effect."""
    assert BODY
    assert [*effects.found(parse(b"<model><plugin><gravity>false</gravity></plugin></model>"), effects.SDF)] == []
