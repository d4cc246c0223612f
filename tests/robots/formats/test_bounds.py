"""Robot files that would recurse, take quadratic time or leave their folder: read, or refused in a sentence."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from pipeline.errors import InputError
from pipeline.robot_files import packages
from pipeline.robot_files.importing import import_robot
from pipeline.robot_files.packages import PackageFiles
from robots.formats import mjcf_model
from robots.formats.xacro.budget import Refusal
from robots.formats.xml_tree import FormatError, parse, root_tag
from tests.robots.formats.test_macros import HEAD, within

BODY = '<body name="b"><joint name="j" type="hinge"/><geom type="box" size=".1 .1 .1"/></body>'
MESH = (
    '<mujoco model="c"><asset><mesh name="m" file="l.obj"/></asset><worldbody><body name="b"><joint type="hinge"/>'
    '<geom type="mesh" mesh="m"/></body></worldbody></mujoco>'
)
TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


def refusal(folder: Path, files: Mapping[str, str], **options: object) -> str:
    """Return what the import of `a.xml` is refused with, empty where it is done."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    try:
        import_robot(folder / next(iter(files)), **options)  # type: ignore[arg-type]  # options of one test
    except InputError as error:
        return str(error)
    return ""


def test_a_count_that_is_no_decimal_number_is_left_to_mujoco(tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    text = f'<mujoco><worldbody><replicate count="²">{BODY}</replicate></worldbody></mujoco>'
    assert "; expected" in refusal(tmp_path, {"a.xml": text})


def test_includes_in_includes_end(tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    chain = {f"i{k}.xml": f'<mujoco><include file="i{k + 1}.xml"/></mujoco>' for k in range(700)}
    files = {"a.xml": f'<mujoco><include file="i0.xml"/><worldbody>{BODY}</worldbody></mujoco>', **chain}
    assert "inside of 50 files that include one another; expected at most 50 levels" in refusal(tmp_path, files)


@pytest.mark.parametrize(
    "main",
    [
        '<mujoco><include file="sub/c.xml"/></mujoco>',
        '<mujoco><asset><model name="c" file="sub/c.xml"/></asset><worldbody><frame>'
        '<attach model="c" body="b" prefix="x"/></frame></worldbody></mujoco>',
    ],
)
def test_links_in_the_folder_of_an_included_file_do_not_lead_outside(main: str, tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    (tmp_path / "secret.obj").write_text(TETRAHEDRON)
    inner = tmp_path / "robot"
    (inner / "sub").mkdir(parents=True)
    (inner / "sub/l.obj").symlink_to("../../secret.obj")
    assert "l.obj" in refusal(inner, {"a.xml": main, "sub/c.xml": MESH})


SCALES = (1.0, 2.0)
TWO = (
    '<mujoco><compiler meshdir="mesh"/><asset><mesh name="m" file="a/l.obj"/><mesh name="n" file="../b/l.obj"/></asset>'
    '<worldbody><body><joint type="hinge"/><geom type="mesh" mesh="m" density="1"/></body><body><joint type="hinge"/>'
    '<geom type="mesh" mesh="n" density="1"/></body></worldbody></mujoco>'
)


def masses(folder: Path) -> list[float]:
    made = import_robot(folder / "model/a.xml", parameters=False)
    return [link.inertia.mass for limb in made.description.template.limbs for link in limb.links if link.inertia]


def two_meshes(folder: Path) -> None:
    (folder / "package.xml").write_text("<package><name>p</name></package>")
    for name, scale in zip(("mesh/a", "b"), SCALES, strict=True):
        (folder / "model" / name).mkdir(parents=True)
        (folder / "model" / name / "l.obj").write_text(TETRAHEDRON.replace("1 0 0\n", f"{scale} 0 0\n", 1))
    (folder / "model/a.xml").write_text(TWO)


def test_meshes_of_one_name_in_two_folders_are_two(tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    two_meshes(tmp_path)
    one, other = masses(tmp_path)
    assert other == pytest.approx(2 * one)


def test_what_is_exchanged_after_the_check_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each file of a model is opened once, by us; MuJoCo gets copies, and nothing is left of them."""
    pytest.importorskip("mujoco")
    two_meshes(tmp_path)
    expected, secret = masses(tmp_path), tmp_path / "secret.obj"
    secret.write_text(TETRAHEDRON.replace("1 0 0\n", "9 0 0\n", 1))
    first, private = mjcf_model._compiled, list[Path]()

    def exchanged(path: str, folder: str) -> bytes:
        for name in ("mesh/a/l.obj", "b/l.obj"):
            (tmp_path / "model" / name).unlink()
            (tmp_path / "model" / name).symlink_to(secret)
        (tmp_path / "model/a.xml").write_text("<mujoco/>")
        private.append(Path(folder))
        return first(path, folder)

    monkeypatch.setattr(mjcf_model, "_compiled", exchanged)
    assert masses(tmp_path) == expected
    assert private
    assert not private[0].exists()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"a/l.obj"', '"FOLDER/model/mesh/a/l.obj"', "a whole path; expected a name relative to"),
        ('"mesh"', '"FOLDER/model/mesh"', "a whole path; expected a name relative to"),
        ('"mesh"', '"/nowhere"', "outside of the folder of the file and its packages"),
        ('"a/l.obj"', f'"{"../" * 90}l.obj"', "expected a name with fewer '..'"),
        ('"mesh"', f'"{"../" * 90}"', "expected a name with fewer '..'"),
        ('"a/l.obj"', '"../../../l.obj"', "outside of the folder of the file and its packages"),
        ('"a/l.obj"', '"a/absent.obj"', "Error opening file 'mesh/a/absent.obj'"),
    ],
)  # fmt: skip
def test_a_name_of_a_mesh_stays_inside(old: str, new: str, said: str, tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    two_meshes(tmp_path)
    (tmp_path / "model/a.xml").write_text(TWO.replace(old, new.replace("FOLDER", str(tmp_path))))
    with pytest.raises(InputError) as refused:
        import_robot(tmp_path / "model/a.xml")
    assert said.replace("FOLDER", str(tmp_path)) in str(refused.value)


def test_many_names_in_many_folders_end_soon(tmp_path: Path) -> None:
    folders = "".join(f'<compiler meshdir="d{k}"/>' for k in range(500))
    names = "".join(f'<mesh name="m{k}" file="m{k}.obj"/>' for k in range(500))
    with within(10):
        said = refusal(tmp_path, {"a.xml": f"<mujoco>{folders}<asset>{names}</asset></mujoco>"})
    assert "too many names and folders; expected 20000 places of files" in said


def test_every_attribute_of_mujoco_that_names_a_file_is_looked_at() -> None:
    """Names of files begin with `file`; folders are those of the compiler. `dir` is the direction of a light."""
    mujoco = pytest.importorskip("mujoco")
    words = {*re.findall(r"\w*(?:file|dir|path)\w*", mujoco.mj_printSchema(False, False))}
    others = {word for word in words if not word.startswith("file")}
    assert others == {"assetdir", "meshdir", "texturedir", "dir", "directional", "strippath"}


def test_frames_of_an_sdf_file_may_stand_in_long_chains(tmp_path: Path) -> None:
    frames = '<frame name="f0"/>' + "".join(f'<frame name="f{k}" attached_to="f{k - 1}"/>' for k in range(1, 1500))
    joint = '<joint name="j" type="revolute"><parent>a</parent><child>b</child><axis><xyz>0 0 1</xyz></axis></joint>'
    text = (
        f'<sdf version="1.9"><model name="m">{frames}<link name="a"/><link name="b"><pose relative_to="f1499">'
        f"1 0 0 0 0 0</pose></link>{joint}</model></sdf>"
    )
    assert refusal(tmp_path, {"a.sdf": text}) == ""


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (f'<xacro:macro name="m" params="x:={"a" * 40}\'"/>', "a file of macros alone"),
        (f'<xacro:property name="x" value="{"${" * 50_000}"/><a b="${{x}}"/>', "characters with expressions"),
    ],
    ids=["parameters", "texts"],
)
def test_macros_take_linear_time(body: str, said: str, tmp_path: Path) -> None:
    with within(10):
        assert said in refusal(tmp_path, {"a.xacro": HEAD + body + "</robot>"}, macros=True)


@pytest.mark.parametrize("separators", ["", "[", "a-"])
def test_separators_are_no_pattern(separators: str, tmp_path: Path) -> None:
    text = f"{HEAD}<a b=\"${{xacro.tokenize('a b', '{separators}')}}\"/></robot>"
    said = refusal(tmp_path, {"a.xacro": text}, macros=True)
    assert "; expected" in said


def test_comments_and_pieces_of_text_take_linear_time() -> None:
    with within(5):
        assert root_tag(b"<!--" * 16_000) == ""
        assert root_tag(b"<!-- <robot> --><mujoco>") == "mujoco"
    pieces = f"<robot>{(60 * 'x' + '<b/>') * 90_000}</robot>"
    with within(10):
        assert len(parse(pieces.encode()).text) == 60 * 90_000


def test_a_name_that_leads_elsewhere_once_it_is_open_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = tmp_path / "robot"
    inner.mkdir()
    (tmp_path / "secret").write_text("secret")
    (inner / "other").write_text("other")
    (inner / "link").symlink_to("other")
    files = PackageFiles(str(inner / "a.xacro"), {})
    assert files.content(str(inner / "link"), 100) == b"other"
    first, calls = packages.open_regular, []

    def swapped(name: str, limit: int) -> object:
        """Open the file of somebody else, whose link is put back at once."""
        calls.append(name)
        return first(str(tmp_path / "secret"), limit)

    monkeypatch.setattr(packages, "open_regular", swapped)
    with pytest.raises(Refusal, match="which changed while it was read; expected a file that stays as it is"):
        files.content(str(inner / "link"), 100)
    assert calls


def test_a_package_that_is_a_link_is_named_by_the_user_alone(tmp_path: Path) -> None:
    foreign, inner = tmp_path / "foreign", tmp_path / "robot"
    foreign.mkdir()
    inner.mkdir()
    (foreign / "package.xml").write_text("<package><name>p</name></package>")
    (foreign / "x.xacro").write_text(f"{HEAD}</robot>")
    (inner / "p").symlink_to("../foreign")
    files = {"a.xacro": f'{HEAD}<xacro:include filename="$(find p)/x.xacro"/></robot>'}
    assert "package 'p', which is a link to another folder; expected the folder itself" in refusal(
        inner, files, macros=True
    )
    assert "got no link;" in refusal(inner, files, macros=True, packages={"p": str(foreign)})


@pytest.mark.parametrize("end", ["</robot>", "\n  </robot >\n</robot>\n", " </robot>" * 100])
def test_a_document_that_ends_again_is_read_as_others_read_it(end: str) -> None:
    assert [each.tag for each in parse(f"<robot><link/></robot>{end}".encode()).children] == ["link"]
    with pytest.raises(FormatError, match="text that is not XML"):
        parse(f"<robot><link/></robot>{end}<link/>".encode())
    with pytest.raises(FormatError, match="text that is not XML"):
        parse(f"<robot><link/></robot></model>{end}".encode())
