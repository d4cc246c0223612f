"""Macros of robot files: what they expand to, beside xacro as the other engine, and what they are refused for."""

from __future__ import annotations

import contextlib
import io
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pipeline.errors import InputError
from pipeline.robot_files.importing import import_robot
from pipeline.robot_files.packages import PackageFiles
from robots.formats.xacro.budget import Budget, MacroError, Refusal
from robots.formats.xacro.expansion import expand
from robots.formats.xacro.expressions import evaluate
from robots.formats.xml_tree import Element, parse
from robots.model import Robot


@contextlib.contextmanager
def within(seconds: int) -> Iterator[None]:
    """End what takes more of a processor: the clock on the wall counts the work of others, too."""

    def late(*_: object) -> None:
        raise TimeoutError(f"more than {seconds} s")

    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


HEAD = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">'
ARM = """
<xacro:property name="length" value="0.2"/>
<link name="base_link"/>
<xacro:macro name="arm" params="name parent x">
  <link name="${name}"><inertial><mass value="${2 * length}"/><origin xyz="${length / 2} 0 0"/>
  <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="${name}_joint" type="continuous"><parent link="${parent}"/><child link="${name}"/>
  <origin xyz="${x} 0 0"/><axis xyz="0 1 0"/></joint>
</xacro:macro>
<xacro:arm name="upper" parent="base_link" x="0"/>
<xacro:arm name="lower" parent="upper" x="${length}"/>
"""

PARTS = {
    "arithmetic": '<a v="${1 + 2 * 3} ${7 // 2} ${7 % 4} ${2 ** 3} ${1 / 4} ${-3} ${1e-3} ${5}"/>',
    "functions": '<a v="${sin(pi/6)} ${radians(90)} ${max(1, 2.5)} ${python.abs(-1)} ${math.atan2(1, 2)}"/>',
    "texts": '<a v="${\'a\' + \'b\'} ${\'a b c\'.split(\' \')[1]} ${\'X\'.lower()} ${\'abc\'[1:]}"/>',
    "lists": '<xacro:property name="l" value="${[1, [2, 3]]}"/><a v="${l[1][0]} ${len(l)} ${l} ${l + [4]}"/>',
    "mappings": '<xacro:property name="d" value="${dict(a=1, b=dict(c=2))}"/><a v="${d[\'b\'][\'c\']} ${\'a\' in d}"/>',
    "choices": '<a v="${1 if 2 > 1 else 0} ${1 and 0} ${not 1} ${1 &lt; 2 &lt; 3} ${\'\' or \'x\'}"/>',
    "lazy": '<xacro:property name="a" value="${b + 1}"/><xacro:property name="b" value="2"/><c v="${a}"/>',
    "literals": "".join(
        f'<xacro:property name="p{k}" value="{text}"/><a v="${{p{k}}}"/>'
        for k, text in enumerate(("1", "1.0", "true", "1_0", "'2'", "abc", "1e3", "", " 3 "))
    ),
    "escaped": '<a v="$${x} $$(y) $ 5"/>',
    "conditions": "".join(
        f'<xacro:{tag} value="{value}"><a v="{k}"/></xacro:{tag}>'
        for tag in ("if", "unless")
        for k, value in enumerate(("true", "0", "${1 == 1}", "False", "${'x' == 'y'}", "1"))
    ),
    "parameters": """<xacro:macro name="m" params="a b:=2 c:='x y' d=${1+1} e:=^|5"><m v="${a} ${b} ${c} ${d} ${e}"/>
        </xacro:macro><xacro:m a="1"/><xacro:property name="e" value="7"/><xacro:m a="${3}" b="4" c=""/>""",
    "blocks": """<xacro:macro name="m" params="n *one **many"><o n="${n}"><xacro:insert_block name="one"/>
        <xacro:insert_block name="many"/><xacro:insert_block name="one"/></o></xacro:macro>
        <xacro:m n="1"><origin xyz="${1+1}"/><x><y/><z v="1"/></x></xacro:m>""",
    "property with content": """<xacro:property name="p"><a v="${q}"/><b/></xacro:property>
        <xacro:property name="q" value="1"/><c><xacro:insert_block name="p"/></c>""",
    "recursion": """<xacro:macro name="m" params="n"><a n="${n}"/><xacro:if value="${n > 0}"><xacro:m n="${n - 1}"/>
        </xacro:if></xacro:macro><xacro:m n="5"/>""",
    "scopes": """<xacro:property name="p" value="1"/><xacro:macro name="m" params="">
        <xacro:property name="p" value="2"/><xacro:property name="g" value="3" scope="global"/>
        <xacro:property name="u" value="4" scope="parent"/>
        <a v="${p}"/></xacro:macro><xacro:m/><a v="${p} ${g} ${u}"/>""",
    "defaults": '<xacro:property name="p" default="1"/><xacro:property name="p" default="2"/><a v="${p}"/>',
    "arguments": '<xacro:arg name="a" default="2"/><xacro:arg name="b" default="x"/><a v="${$(arg a) + 1} $(arg b)"/>',
    "call": '<xacro:macro name="m" params="v"><a v="${v}"/></xacro:macro><xacro:call macro="${\'m\'}" v="1"/>',
    "element": '<xacro:element xacro:name="a${1}" v="2"/><b><xacro:attribute name="v" value="x${3}"/></b>',
    "include": '<xacro:include filename="other.xacro"/><xacro:other v="1"/><a v="${shared}"/>',
    "namespace": '<xacro:include filename="other.xacro" ns="o"/><xacro:o.other v="1"/><a v="${o.shared}"/>',
    "package": '<xacro:include filename="$(find other_pkg)/deep/part.xacro"/><a v="${part}"/>',
    "yaml": """<xacro:property name="y" value="${xacro.load_yaml('$(find this_pkg)/numbers.yaml')}"/>
        <a v="${y['a']['b']} ${y.a.b} ${y['l'][1]} ${y['degrees']} ${y['again']['b']} ${'c' in y['a']}"/>""",
    "text": "<a>${1 + 1} and ${'b'}</a>",
}  # fmt: skip


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A file in a package, with another package beside it."""
    for name in ("this_pkg", "other_pkg"):
        (tmp_path / name / "deep").mkdir(parents=True)
        (tmp_path / name / "package.xml").write_text(f"<package><name>{name}</name></package>")
    here = tmp_path / "this_pkg"
    shared = '<xacro:property name="shared" value="8"/>'
    macro = '<xacro:macro name="other" params="v"><o v="${v}"/></xacro:macro>'
    (here / "deep/other.xacro").write_text(f"{HEAD}{shared}{macro}</robot>")
    (here / "numbers.yaml").write_text("a: &a {b: 1.5}\nl: [1, 2]\ndegrees: !degrees 180.0\nagain: *a\n")
    (tmp_path / "other_pkg/deep/part.xacro").write_text(f'{HEAD}<xacro:property name="part" value="9"/></robot>')
    return here / "deep/r.xacro"


def plain(element: Element) -> tuple[object, ...]:
    """Return the content of an element, without line numbers."""
    attributes = {key: text for key, text in element.attributes.items() if not key.startswith("xmlns")}
    return element.tag, attributes, element.text.split(), [plain(child) for child in element.children]


def expanded(path: Path, **arguments: str) -> Element:
    return expand(parse(path.read_bytes()), str(path), PackageFiles(str(path), {}), arguments).root


@pytest.mark.parametrize("name", PARTS)
def test_the_same_as_xacro(name: str, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    xacro = pytest.importorskip("xacro")
    place.write_text(f"{HEAD}{PARTS[name]}</robot>")
    monkeypatch.setattr("xacro.substitution_args._eval_find", lambda package: str(place.parent.parent.parent / package))
    with contextlib.redirect_stderr(io.StringIO()):
        expected = plain(parse(xacro.process_file(str(place)).toxml().encode()))
    found = plain(expanded(place))
    assert found == expected
    assert found[3]  # else nothing was compared


def test_a_robot_of_macros_is_a_robot(tmp_path: Path) -> None:
    path = tmp_path / "r.xacro"
    path.write_text(f"{HEAD}{ARM}</robot>")
    imported = import_robot(path, macros=True)
    robot = Robot.of(imported.description.family, {})
    assert robot.mechanism.freedoms == ("upper_joint", "lower_joint")
    assert robot.values["lower_joint_offset_x"] == 0.2
    with pytest.raises(InputError, match=r"macros of xacro; expected a plain file. Expand it first"):
        import_robot(path)
    (tmp_path / "plain.urdf").write_text(f"{HEAD}<link name='a'/></robot>")
    with pytest.raises(InputError, match=r"no joint that moves"):  # a namespace alone is no macro
        import_robot(tmp_path / "plain.urdf")


def test_a_mistake_in_what_was_expanded_is_told_at_the_call(tmp_path: Path) -> None:
    (tmp_path / "arm.xacro").write_text(f"{HEAD}{ARM.split('<xacro:arm')[0]}</robot>")
    path = tmp_path / "r.xacro"
    path.write_text(
        f'{HEAD}\n<xacro:include filename="arm.xacro"/>\n\n<xacro:arm name="u" parent="base" x="0"/></robot>'
    )
    with pytest.raises(InputError, match=r"r.xacro:4:1 joint u_joint: got parent 'base'; expected a link"):
        import_robot(path, macros=True)
    macro = ARM[ARM.index("<xacro:macro") : ARM.index("<xacro:arm")]
    (tmp_path / "arm.xacro").write_text(f"{HEAD}{macro}</robot>")
    with pytest.raises(InputError, match=r"arm.xacro: got a file of macros alone \(arm\); expected links and joints"):
        import_robot(tmp_path / "arm.xacro", macros=True)


def test_arguments_are_those_of_the_file(place: Path) -> None:
    place.write_text(f'{HEAD}<xacro:arg name="size" default="1"/><a v="$(arg size)"/></robot>')
    assert expanded(place, size="3").children[0].attributes == {"v": "3"}
    with pytest.raises(InputError, match=r"got the argument 'width'; expected one of size"):
        import_robot(place, macros={"width": "3"})


def test_a_package_that_the_user_names(place: Path, tmp_path: Path) -> None:
    (tmp_path / "far/away").mkdir(parents=True)
    (tmp_path / "far/away/part.xacro").write_text(f'{HEAD}<xacro:property name="part" value="9"/></robot>')
    place.write_text(f'{HEAD}<xacro:include filename="$(find there)/part.xacro"/>{ARM}</robot>')
    with pytest.raises(InputError, match=r"got package 'there'.*--package there=FOLDER"):
        import_robot(place, macros=True)
    assert import_robot(place, macros=True, packages={"there": tmp_path / "far/away"}).text
    with pytest.raises(InputError, match=r"the folder of package there; expected a folder that is there"):
        import_robot(place, macros=True, packages={"there": tmp_path / "nowhere"})


REFUSED = {
    "a generator's frame": ("${(x for x in [1]).gi_frame}", "got GeneratorExp"),
    "a comprehension": ("${[c for c in [1]]}", "got ListComp"),
    "a class": ("${().__class__}", "got the attribute '__class__'"),
    "a class of a text": ("${'a'.__class__.__mro__}", "got the attribute '__class__'"),
    "a method's self": ("${abs.__self__}", "got the attribute '__self__'"),
    "a key with underscores": ("${dict(a=1).__class__}", "got the attribute '__class__'"),
    "globals of a function": ("${xacro.warning.__globals__}", "got the attribute '__globals__'"),
    "an import": ("${__import__('os').system('true')}", "got the name '__import__'"),
    "open": ("${open('/etc/passwd').read()}", "got the name 'open'"),
    "format": ("${'a'.format(1)}", "got the attribute 'format'"),
    "an f-string": ("${f'a'}", "got JoinedStr"),
    "a lambda": ("${(lambda: 1)()}", "got Lambda"),
    "a walrus": ("${(a := 1)}", "got NamedExpr"),
    "bytes": ("${b'a'}", "got b'a'"),
    "type": ("${type(1)}", "got the name 'type'"),
    "a power of powers": ("${9**9**9}", "got the power 387420489; expected at most 64"),
    "a large number": ("${10**60}", "bits; expected at most 63"),
    "a large shift": ("${1 &lt;&lt; 100}", "int +  int|numbers, or texts"),
    "a long text": ("${'a' * 1000000}", "got str \\* int"),
    "text with a percent sign": ("${'%1000000000d' % 1}", "got str % int"),
    "a large range": ("${range(10**12)}", "got a range of 1000000000000 numbers"),
    "rounding by many digits": ("${round(10**18, -10**18)}", None),
    "deep brackets": ("${" + "(" * 500 + "1" + ")" * 500 + "}", "got expression"),
    "many signs": ("${" + "-" * 1900 + "1}", "levels|got expression"),
    "division by zero": ("${1/0}", "ZeroDivisionError"),
    "a name that is not there": ("${width}", "got the name 'width'; expected a property"),
    "the environment": ("$(env HOME)", r"got \$\(env HOME\); expected \$\(arg NAME\)"),
    "python by eval": ("$(eval 1+1)", r"got \$\(eval 1\+1\)"),
    "names by themselves": ("${chain}", "properties that need one another"),
    "a namespace as a value": ("${math}", None),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_expressions_that_are_refused(name: str, place: Path) -> None:
    text, message = REFUSED[name]
    chain = '<xacro:property name="chain" value="${link}"/><xacro:property name="link" value="${chain}"/>'
    place.write_text(f'{HEAD}{chain}<a v="{text}"/></robot>')
    if message is None:  # harmless, and small
        with within(10):
            assert len(expanded(place).children[0].attributes["v"]) < 200
        return
    with within(10), pytest.raises(MacroError, match=message):
        expanded(place)


BOMBS = {
    "macros that call themselves": '<xacro:macro name="m" params=""><xacro:m/></xacro:macro><xacro:m/>',
    "macros that double": "".join(
        f'<xacro:macro name="m{k}" params=""><xacro:m{k + 1}/><xacro:m{k + 1}/></xacro:macro>' for k in range(40)
    ) + '<xacro:macro name="m40" params=""><a/></xacro:macro><xacro:m0/>',
    "texts that double": '<xacro:property name="p0" value="aaaaaaaaaa"/>' + "".join(
        f'<xacro:property name="p{k + 1}" lazy_eval="false" value="${{p{k}}}${{p{k}}}"/>' for k in range(40)
    ),
    "sums that double": '<xacro:property name="p0" value="aaaaaaaaaa"/>' + "".join(
        f'<xacro:property name="p{k + 1}" lazy_eval="false" value="${{p{k} + p{k}}}"/>' for k in range(40)
    ),
    "lists that double": '<xacro:property name="p0" value="${[1]}"/>' + "".join(
        f'<xacro:property name="p{k + 1}" lazy_eval="false" value="${{[p{k}, p{k}]}}"/>' for k in range(60)
    ),
    "a file that includes itself": '<xacro:include filename="r.xacro"/>',
    "a long chain": "".join(
        f'<xacro:property name="p{k}" value="${{p{k + 1}}}"/>' for k in range(300)
    ) + '<a v="${p0}"/>',
    "aliases that double": "<xacro:property name='y' value=\"${load_yaml('bomb.yaml')}\"/><a v='${y}'/>",
}  # fmt: skip


@pytest.mark.parametrize("name", BOMBS)
def test_what_grows_without_end_ends_in_a_sentence(name: str, place: Path) -> None:
    place.write_text(f"{HEAD}{BOMBS[name]}</robot>")
    rows = "\n".join(f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 9)}]" for k in range(1, 20))
    (place.parent / "bomb.yaml").write_text(f"a0: &a0 [1]\n{rows}\n")
    with within(20), pytest.raises(MacroError, match=r"at most|expected macros that|expected fewer files|smaller file"):
        expanded(place)


OUTSIDE = {
    "a folder above": "../../outside.xacro",
    "a whole path": "/etc/hostname",
    "a link": "link.xacro",
    "a folder that is a link": "away/outside.xacro",
    "a pattern": "*.xacro",
    "a pipe": "pipe",
    "a folder": ".",
    "another package without its name": "$(find nameless)/x.xacro",
    "a package above by dots": "$(find ..)/outside.xacro",
    "no file": "none.xacro",
}


@pytest.mark.parametrize("name", OUTSIDE)
def test_files_that_are_not_included(name: str, place: Path, tmp_path: Path) -> None:
    (tmp_path / "outside.xacro").write_text(f'{HEAD}<xacro:property name="secret" value="1"/></robot>')
    (tmp_path / "nameless").mkdir()
    (tmp_path / "nameless/x.xacro").write_text(f"{HEAD}</robot>")
    (place.parent / "link.xacro").symlink_to(tmp_path / "outside.xacro")
    (place.parent / "away").symlink_to(tmp_path)
    os.mkfifo(place.parent / "pipe")
    place.write_text(f'{HEAD}<xacro:include filename="{OUTSIDE[name]}"/></robot>')
    with within(10), pytest.raises(MacroError, match=r"outside of|one file|regular file|package|no such file"):
        expanded(place)
    place.write_text(f"""{HEAD}<a v="${{load_yaml('{OUTSIDE[name]}')}}"/></robot>""")
    with within(10), pytest.raises(MacroError, match=r"outside of|one file|regular file|package|no such file|expected"):
        expanded(place)


def test_an_expression_has_no_names_of_python() -> None:
    with pytest.raises(Refusal, match=r"got the name 'print'"):
        evaluate("print(1)", dict[str, Any]().__getitem__, Budget())
