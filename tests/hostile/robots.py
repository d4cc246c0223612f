"""Hostile robot files: each writes `robot.urdf` or `robot.yaml` into a folder, beside a folder of somebody else.

The format is told by the content, so macros, SDF files and models of MuJoCo are called `robot.urdf` as well: identify
and calibrate read a file of that name.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

Change = Callable[[Path, Path], object]
"""Makes a file in a folder (first), with the folder of somebody else (second)."""

XML, YAML = "robot.urdf", "robot.yaml"
ESCAPES = "\x1b]0;owned\x07‮"

INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
LINKS = f'<link name="a"/><link name="b">{INERTIAL}</link>'
JOINT = '<joint name="j" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint>'
BODY = '<body><joint type="hinge"/><geom size="0.1"/></body>'
WALK = "[c for c in ().__class__.__base__.__subclasses__() if c.__name__ == '_wrap_close'][0]"
RUN = "touch victim/run"


def xml(text: str | bytes) -> Change:
    """A file with this text; VICTIM in it stands for the whole path of the other folder."""

    def write(folder: Path, victim: Path) -> None:
        data = text if isinstance(text, bytes) else text.replace("VICTIM", str(victim)).encode()
        (folder / XML).write_bytes(data)

    return write


def macro(body: str) -> Change:
    """A robot with macros."""
    return xml(f'<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">{body}{LINKS}{JOINT}</robot>')


def value(expression: str) -> Change:
    """A robot with one expression of macros."""
    return macro(f'<link name="${{{expression}}}"/>')


def model(text: str, outside: str = "") -> Change:
    """A model of MuJoCo."""
    return xml(f"<mujoco>{outside}<worldbody>{BODY}{text}</worldbody></mujoco>")


def sdf(text: str) -> Change:
    return xml(f'<sdf version="1.7">{text}</sdf>')


def robot(text: str) -> Change:
    """A robot file of our own."""
    return lambda folder, victim: (folder / YAML).write_text(text)


def beside(then: Change, make: Callable[[Path, Path], object]) -> Change:
    """A file that names another one, which is made too."""

    def write(folder: Path, victim: Path) -> None:
        make(folder, victim)
        then(folder, victim)

    return write


def pipe(name: str) -> Change:
    return lambda folder, victim: os.mkfifo(folder / name)


def link(name: str, to: str) -> Change:
    """A link; VICTIM stands for the other folder."""
    return lambda folder, victim: (folder / name).symlink_to(to.replace("VICTIM", str(victim)))


def sparse(name: str, size: int) -> Change:
    """A file of zeros that takes no room."""

    def write(folder: Path, victim: Path) -> None:
        with (folder / name).open("wb") as file:
            file.truncate(size)

    return write


def text(name: str, content: str) -> Change:
    return lambda folder, victim: (folder / name).write_text(content)


DOCTYPE = "<!DOCTYPE robot"
LOL = "".join(f'<!ENTITY a{k + 1} "{f"&a{k};" * 10}">' for k in range(9))
DOUBLING = "".join(
    f'<xacro:macro name="m{k}" params=""><xacro:m{k + 1}/><xacro:m{k + 1}/></xacro:macro>' for k in range(40)
)
GROWING = "".join(f'<xacro:property name="p{k + 1}" lazy_eval="false" value="${{p{k} + p{k}}}"/>' for k in range(40))
ALIASES = "\n".join(f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 9)}]" for k in range(1, 20))
MESH = '<asset><mesh name="m" file="{}"/></asset>'
PARSED = 'limbsweep: 1\nname: r\nlinks:\n  - {joint: j, body: b, parent: base, axis: z, inertia: {mass: "{}"}}\n'

ROBOTS: dict[str, Change] = {
    "an entity of a file": xml(f'{DOCTYPE} [<!ENTITY a SYSTEM "file://VICTIM/precious">]><robot name="&a;"/>'),
    "an entity of the network": xml(f'{DOCTYPE} [<!ENTITY a SYSTEM "http://127.0.0.1:9/">]><robot name="&a;"/>'),
    "a DTD elsewhere": xml(f'{DOCTYPE} SYSTEM "http://127.0.0.1:9/x.dtd"><robot/>'),
    "entities that multiply": xml(f'{DOCTYPE} [<!ENTITY a0 "lol">{LOL}]><robot name="&a9;"/>'),
    "a deep file": xml("<robot>" + "<a>" * 200_000),
    "half a million links": xml(f"<robot name='r'>{'<link/>' * 500_000}</robot>"),
    "names that speak to a terminal": xml(f'<robot name="r"><link name="&#x202e;{"x" * 90}"/></robot>'),
    "a pipe": pipe(XML),
    "a device": link(XML, "/dev/zero"),
    "a file of a terabyte": sparse(XML, 1 << 40),
    "another encoding": xml(b'<?xml version="1.0" encoding="rot13"?><ebobg/>'),
    "a mesh elsewhere": xml(
        f'<robot name="r">{LINKS}{JOINT}<link name="c"><visual><geometry><mesh filename="file://VICTIM/precious"/>'
        "</geometry></visual></link></robot>"
    ),
    "a macro that walks to a command": value(f"{WALK}.__init__.__globals__['system']('{RUN}')"),
    "a macro with a generator's frame": value(
        f"[g for g in [(g.gi_frame.f_back.f_globals for g in [1])]][0].send(None)['os'].system('{RUN}')"
    ),
    "a macro that imports": value(f"__import__('os').system('{RUN}')"),
    "a macro that opens": value("open('VICTIM/precious').read()"),
    "a macro that formats": value("'{0.__class__.__mro__}'.format(1)"),
    "a macro with a power of powers": value("9**9**9"),
    "a macro with a long text": macro('<xacro:property name="p0" value="aaaaaaaa"/>' + GROWING),
    "macros that call themselves": macro('<xacro:macro name="m" params=""><xacro:m/></xacro:macro><xacro:m/>'),
    "macros that double": macro(f"{DOUBLING}<xacro:macro name='m40' params=''><a/></xacro:macro><xacro:m0/>"),
    "a macro of the environment": macro('<link name="$(env HOME)"/>'),
    "a macro of python": macro(f"<link name=\"$(eval __import__('os').system('{RUN}'))\"/>"),
    "a macro that includes a pipe": beside(macro('<xacro:include filename="p"/>'), pipe("p")),
    "a macro that includes a file elsewhere": macro('<xacro:include filename="VICTIM/robot.xml"/>'),
    "a macro that includes by dots": macro('<xacro:include filename="../victim/robot.xml"/>'),
    "a macro that includes a link": beside(macro('<xacro:include filename="l"/>'), link("l", "VICTIM/robot.xml")),
    "a macro that includes itself": macro(f'<xacro:include filename="{XML}"/>'),
    "a macro that reads YAML elsewhere": value("load_yaml('VICTIM/numbers.yaml')"),
    "a macro that reads a YAML bomb": beside(value("load_yaml('y')"), text("y", f"a0: &a0 [1]\n{ALIASES}\n")),
    "a macro that reads YAML with code": beside(
        value("load_yaml('y')"), text("y", f"a: !!python/object/apply:os.system ['{RUN}']\n")
    ),
    "a package that is a pipe": beside(macro('<xacro:include filename="$(find p)/x"/>'), pipe("package.xml")),
    "a package by dots": macro('<xacro:include filename="$(find ../victim)/robot.xml"/>'),
    "a model that includes a pipe": beside(model("", '<include file="p"/>'), pipe("p")),
    "a model that includes a file elsewhere": model("", '<include file="VICTIM/robot.xml"/>'),
    "a model that includes by dots": model("", '<include file="../victim/robot.xml"/>'),
    "a model that includes a link": beside(model("", '<include file="l"/>'), link("l", "VICTIM/robot.xml")),
    "a model that includes itself": model("", f'<include file="{XML}"/>'),
    "a model with a mesh that is a pipe": beside(
        model('<geom type="mesh" mesh="m"/>', MESH.format("m.stl")), pipe("m.stl")
    ),
    "a model with a mesh that is a device": beside(
        model('<geom type="mesh" mesh="m"/>', MESH.format("m.stl")), link("m.stl", "/dev/zero")
    ),
    "a model with a mesh elsewhere": model('<geom type="mesh" mesh="m"/>', MESH.format("VICTIM/m.stl")),
    "a model with a texture of a terabyte": beside(
        model("", '<asset><texture name="t" type="2d" file="t.png"/></asset>'), sparse("t.png", 1 << 40)
    ),
    "a model that copies a million times": model(f'<replicate count="1000000" offset="1 0 0">{BODY}</replicate>'),
    "a model with copies of copies": model(
        '<replicate count="300" offset="1 0 0">' * 3 + BODY + "</replicate>" * 3
    ),
    "a model with a huge composite": model(
        '<body name="c"><composite type="cable" count="2000000 1 1" size="1"><geom size="0.1"/></composite></body>'
    ),
    "a model with a huge field": model(
        "", '<asset><hfield name="h" nrow="100000" ncol="100000" size="1 1 1 1"/></asset>'
    ),
    "a model with much memory": model("", '<size memory="900G"/>'),
    "an SDF file that includes a file": sdf("<world name='w'><include><uri>file://VICTIM/robot.xml</uri></include></world>"),
    "an SDF file with an entity": xml(f'{DOCTYPE} [<!ENTITY a SYSTEM "file://VICTIM/precious">]><sdf>&a;</sdf>'),
    "an SDF file with half a million links": sdf(f"<model name='m'>{'<link/>' * 500_000}</model>"),
    "YAML with code": robot(f"limbsweep: 1\nname: !!python/object/apply:os.system ['{RUN}']\n"),
    "YAML that multiplies": robot(f"limbsweep: 1\na0: &a0 [1]\n{ALIASES}\n"),
    "an expression with a command": robot(PARSED.replace("MASS", f"__import__('os').system('{RUN}')")),
    "an expression with a power of powers": robot(PARSED.replace("MASS", "9**9**9")),
    "a deep expression": robot(PARSED.replace("MASS", "(" * 400 + "1" + ")" * 400)),
}  # fmt: skip
