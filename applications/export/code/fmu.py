"""Forward dynamics of a chain as a Functional Mock-up Unit: FMI 2.0 for model exchange, states q and q'.

A unit is a zip file with a description, the C of `c_source` behind the functions of the standard, and where there is a
compiler the library of this system. It needs nothing of limbsweep where it is used. Source: Functional Mock-up
Interface for Model Exchange and Co-Simulation, version 2.0.4.
"""

from __future__ import annotations

import hashlib
import platform
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import quoteattr

from numpy.typing import ArrayLike

from applications.export.code.c_source import CCode, c_code
from pipeline.documents.outputs import output
from robots.arguments import check_arguments
from robots.joint_kinds import JOINT_KINDS
from robots.model import Robot
from tasks.dynamics.records import GRAVITY

FLAGS = ("-std=c99", "-O2", "-ffp-contract=off", "-fPIC", "-shared", "-fvisibility=hidden")

LIBRARIES = {"linux": ("linux64", "so"), "darwin": ("darwin64", "dylib"), "win32": ("win64", "dll")}
"""Folder and ending of the library of a system."""


class _Scalar(NamedTuple):
    """A variable of an FMU: name, unit, meaning, causality, and the number of the variable whose derivative it is."""

    name: str
    unit: str
    text: str
    causality: str
    of: int = 0


@check_arguments
def fmu(
    robot: Robot, path: str | Path, *, gravity: ArrayLike = GRAVITY, compiler: str | None = "cc",
    name: str | None = None,
) -> Path:  # fmt: skip
    """Write the motion of a chain under actuator forces as an FMU for Simulink, Modelica and others; return its path.

    Inputs are forces of the actuators, states and outputs positions and rates of the freedoms from the reference pose.
    Parameters of the robot and gravity (3,) are constants; friction is not included. compiler: of C, for the library of
    this system; None for sources alone. name: of the model; absent: that of the robot. Raises ValueError for a robot
    with a platform, which `robots.coupled.as_chain` makes a chain, and where there is no such compiler;
    InputError where the file may not or cannot be written.

        >>> ls.fmu(ls.robots.build("planar_3r"), "arm.fmu", compiler=None).name
        'arm.fmu'
    """
    if not robot.mechanism.is_chain:
        raise ValueError(f"robot: got {robot.name} with a platform; expected a chain, as by limbsweep.robots.as_chain")
    code = c_code(robot, ["forward_dynamics"], gravity=gravity, name=name)
    variables = list(_variables(robot))
    free, driven = len(robot.mechanism.freedoms), len(robot.mechanism.actuators)
    guid = hashlib.sha256((code.source + repr(variables)).encode()).hexdigest()[:32]
    source = files("applications.export.code").joinpath("fmi.c").read_text(encoding="utf-8")
    for key, value in {"NAME": code.name, "FREE": str(free), "DRIVEN": str(max(driven, 1)), "GUID": guid}.items():
        source = source.replace(f"@{key}@", value)
    parts = {"modelDescription.xml": _description(code.name, guid, variables, free).encode()}
    parts |= {f"sources/{code.name}.{end}": text.encode() for end, text in (("h", code.header), ("c", code.source))}
    parts[f"sources/{code.name}_fmu.c"] = source.encode()
    if compiler is not None:
        folder, end = LIBRARIES.get(sys.platform, LIBRARIES["linux"])
        parts[f"binaries/{folder}/{code.name}.{end}"] = _library(code, source, compiler, end)
    target = Path(path)
    with output(target, option="path") as draft, zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as unit:
        for place, content in parts.items():
            unit.writestr(zipfile.ZipInfo(place, (1980, 1, 1, 0, 0, 0)), content)
    return target


def _library(code: CCode, source: str, compiler: str, end: str) -> bytes:
    found = shutil.which(compiler)
    if found is None or platform.machine() not in ("x86_64", "AMD64"):
        what = f"no compiler {compiler!r}" if found is None else f"a machine of kind {platform.machine()}"
        raise ValueError(f"compiler: got {what}; expected one of C for x86-64, or None for sources alone")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for name, text in ((f"{code.name}.h", code.header), (f"{code.name}.c", code.source), ("unit.c", source)):
            (place / name).write_text(text, "utf-8")
        command = [found, *FLAGS, f"{code.name}.c", "unit.c", "-o", f"unit.{end}", "-lm"]
        run = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
        if run.returncode:
            raise ValueError(f"compiler: {compiler} ended with {run.returncode}: {run.stderr.strip()[:500]}")
        return (place / f"unit.{end}").read_bytes()


def _variables(robot: Robot) -> Iterator[_Scalar]:
    """Yield the variables in the order of their numbers: positions, rates, derivatives of both, inputs."""
    mechanism = robot.mechanism
    (limb,) = mechanism.limbs
    kinds = dict(zip(limb.joints, limb.joint_kinds, strict=True))
    units = {name: kinds[name].units.position for name in mechanism.freedoms}
    count = len(units)
    yield from (_Scalar(f"position.{x}", unit, f"position of {x}", "output") for x, unit in units.items())
    yield from (_Scalar(f"rate.{x}", f"{unit}/s", f"rate of {x}", "output") for x, unit in units.items())
    for k, (x, unit) in enumerate(units.items(), start=1):
        yield _Scalar(f"der(position.{x})", f"{unit}/s", f"derivative of the position of {x}", "local", k)
    for k, (x, unit) in enumerate(units.items(), start=count + 1):
        yield _Scalar(f"der(rate.{x})", f"{unit}/s2", f"acceleration of {x}", "local", k)
    for x, kind in zip(mechanism.actuators, mechanism.actuator_kinds, strict=True):
        yield _Scalar(f"force.{x}", "N.m" if JOINT_KINDS[kind].turns else "N", f"force of {x}", "input")


def _description(name: str, guid: str, variables: Sequence[_Scalar], free: int) -> str:
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<fmiModelDescription fmiVersion="2.0" modelName={quoteattr(name)} guid="{guid}" generationTool="limbsweep" '
        'variableNamingConvention="structured" numberOfEventIndicators="0">',
        f'  <ModelExchange modelIdentifier="{name}" completedIntegratorStepNotNeeded="true">',
        f'    <SourceFiles><File name="{name}.c"/><File name="{name}_fmu.c"/></SourceFiles>',
        "  </ModelExchange>",
        "  <UnitDefinitions>",
        *(f'    <Unit name="{unit}"/>' for unit in dict.fromkeys(variable.unit for variable in variables)),
        "  </UnitDefinitions>",
        "  <ModelVariables>",
    ]
    for number, x in enumerate(variables):
        start = ' start="0"' if x.causality != "local" else ""
        derivative = f' derivative="{x.of}"' if x.of else ""
        initial = {"output": ' initial="exact"', "local": ' initial="calculated"'}.get(x.causality, "")
        about = f'name={quoteattr(x.name)} valueReference="{number}" description={quoteattr(x.text)}'
        lines.append(
            f'    <ScalarVariable {about} causality="{x.causality}" variability="continuous"{initial}>'
            f'<Real unit="{x.unit}"{start}{derivative}/></ScalarVariable>'
        )
    outputs = [f'<Unknown index="{k}"/>' for k in range(1, 2 * free + 1)]
    derivatives = [f'<Unknown index="{k}"/>' for k in range(2 * free + 1, 4 * free + 1)]
    lines += ["  </ModelVariables>", "  <ModelStructure>", f"    <Outputs>{''.join(outputs)}</Outputs>"]
    lines += [f"    <{part}>{''.join(derivatives)}</{part}>" for part in ("Derivatives", "InitialUnknowns")]
    return "\n".join([*lines, "  </ModelStructure>", "</fmiModelDescription>", ""])
