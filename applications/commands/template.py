"""Write the first sweep file of a user: a commented, valid `sweep.yaml` for one robot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib.resources import files

from pipeline.robot_files import rated
from robots.friction.laws import LAWS
from robots.model import Family
from robots.parameters import Parameter
from robots.trajectories.kinds import JOINT_MOTIONS, MOTIONS, TURNS, MotionKind
from robots.types import TRANSLATION, TWIST

RADIUS, TURN = 0.05, 0.1
"""Size of the first motion of a platform [m, rad]."""


def swept_first(family: Family) -> tuple[str, ...]:
    """Return the parameters that a first sweep may vary, in their order."""
    # a tenth of nothing is no range
    return tuple(p.name for p in family.parameters if p.default) or tuple(p.name for p in family.parameters)


def sweep_text(
    family: Family,
    robot: str = "",
    share: float = 1.0,
    *,
    first: str = "",
    spread: float = 0.1,
    limited: bool = True,
) -> str:
    """Write a sweep over a parameter of `family`; comments show other parameters that may be swept.

    `robot` is the robot in the file, if not its name: the path of a robot file. `share` makes the motion
    smaller; `first` is the parameter, if not the first that may vary, and `spread` the half width of the design axis,
    relative to the default; without a width there is the default alone. Limits that the robot's own file
    has are a comment where it is not `limited`.
    """
    chain = family.reference.is_chain
    motions = JOINT_MOTIONS if chain else MOTIONS
    return _template("template_sweep.txt").format(
        name=family.name,
        title=family.title or "a robot of your own",
        gravity=f"[{', '.join(f'{component:g}' for component in family.gravity)}]",
        robot=robot or family.name,
        designs=_designs(family, first, spread),
        laws=_comment(f"{law.name:<16} {', '.join(p.name for p in law.parameters)}" for law in LAWS.values()),
        movers="the independent joints, from the reference pose" if chain else "the platform from its reference pose",
        motions=_kinds(motions) + _turns(family),
        motion=rated.motion(family, share) if chain else _platform_motion(family, share),
        friction=rated.friction(family) or _FRICTION,
        limits=rated.limits(family, kept=limited),
    )


def _designs(family: Family, swept: str, spread: float) -> str:
    """Return the sections of parameters and designs; of a robot without parameters there is one design."""
    named = {parameter.name: parameter for parameter in family.parameters}
    able = [named[name] for name in swept_first(family)]
    if not able:
        return "# The robot has no parameters, so there is one design.\n"
    able.sort(key=lambda parameter: parameter.name != swept)
    first, second, last = able[0], able[min(1, len(able) - 1)], able[-1]
    low, high = _around(first, spread)
    values = f"{{start: {low:.4g}, stop: {high:.4g}, num: 5}}" if spread else f"[{first.default}]"
    wide = max(20, *(len(p.name) for p in family.parameters))
    return _template("template_designs.txt").format(
        parameters=_comment(f"{p.name:<{wide}} {p.default!s:>10} {p.unit:<8} {p.text}" for p in family.parameters),
        first=first.name,
        last=last.name,
        other=second.name,
        low=f"{_around(second, spread)[0]:.4g}",
        high=f"{_around(second, spread)[1]:.4g}",
        fixed=f"{{{last.name}: {last.default}}}",
        swept=f"{first.name}: {values}",
    )


def _kinds(motions: Mapping[str, MotionKind]) -> str:
    return _comment(f"{motion.name:<11} {', '.join(p.name for p in motion.parameters)}" for motion in motions.values())


def _turns(family: Family) -> str:
    """List the kinds of turns, for a platform that can turn."""
    if set(family.reference.platform.mobility) <= set(TRANSLATION):
        return ""
    return f"\n{_TURNS}\n{_kinds(TURNS)}"


def _platform_motion(family: Family, share: float) -> str:
    """Return a first trajectory that the platform is free to make: a circle, a line, or a turn where it is."""
    mobility = family.reference.platform.mobility
    held = [k for k, name in enumerate(TRANSLATION) if name not in mobility]
    size = float(f"{RADIUS * share:.3g}")
    if len(held) < 2:
        return _CIRCLE.format(normal=[int(k == (held[0] if held else 2)) for k in range(3)], radius=size)
    line = [0.0 if k in held else size for k in range(3)]
    if len(held) == 2:
        return _LINE.format(amplitude=line)
    turns = [float(f"{TURN * share:.3g}") if name == mobility[0] else 0.0 for name in TWIST[:3]]
    return _TURNING.format(amplitude=turns)


def _around(parameter: Parameter, spread: float) -> tuple[float, float]:
    default = parameter.default
    assert not isinstance(default, tuple), "parameters of robots are scalars"
    ends = sorted((default * (1 - spread), default * (1 + spread)))
    return max(ends[0], parameter.lower), min(ends[1], parameter.upper)


def _template(name: str) -> str:
    return files("applications.commands").joinpath(name).read_text("utf-8")


def _comment(lines: Iterable[str]) -> str:
    return "\n".join(f"#   {line}".rstrip() for line in lines)


_CIRCLE = "first: {{kind: circle, radius: {radius}, normal: {normal}, period: 1.0}}"
_LINE = "first: {{kind: line_sine, amplitude: {amplitude}, period: 1.0}}"
_TURNING = (
    "first: {{kind: line_sine, amplitude: [0, 0, 0], turn: {{kind: harmonic, amplitude: {amplitude}, period: 1.0}}}}"
)
_TURNS = """\
# With any of them `turn: {kind: harmonic, amplitude: [0.1, 0, 0], period: 1.0}` turns the platform meanwhile, by roll,
# pitch and yaw [rad]:"""
_FRICTION = """\
friction:
  law: coulomb_viscous
  joints: actuated
  grid:
    viscous: {values: [0.0, 0.05]}
  parameters: {coulomb: 0.1}
"""
