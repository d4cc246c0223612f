"""The first sweep file of a user: a commented `sweep.yaml` for one robot, valid as it stands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from robots.friction import LAWS
from robots.model import Family
from robots.motions import JOINT_MOTIONS, MOTIONS, Motion
from robots.parameters import Parameter

SPREAD = 0.1
"""Half width of the first design axis, relative to the default."""


def sweep_text(family: Family) -> str:
    """The text of a sweep over the first parameter of `family`, with what else may be swept in comments."""
    first, other = [each for each in family.parameters if each.default][:2]
    last = family.parameters[-1]
    low, high = _around(first)
    heading, motions, trajectory = _motions(family)
    return _TEMPLATE.format(
        name=family.name,
        title=family.title,
        parameters=_comment(f"{p.name:<20} {p.default!s:>10} {p.unit:<8} {p.text}" for p in family.parameters),
        first=first.name,
        last=last.name,
        other=other.name,
        low=f"{_around(other)[0]:.4g}",
        high=f"{_around(other)[1]:.4g}",
        gravity=f"[{', '.join(f'{component:g}' for component in family.gravity)}]",
        fixed=f"{{{last.name}: {last.default}}}",
        swept=f"{first.name}: {{start: {low:.4g}, stop: {high:.4g}, num: 5}}",
        laws=_comment(f"{law.name:<20} {', '.join(p.name for p in law.parameters)}" for law in LAWS.values()),
        heading=heading,
        motions=_comment(f"{each.name:<21} {', '.join(p.name for p in each.parameters)}" for each in motions.values()),
        trajectory=trajectory,
    )


def _motions(family: Family) -> tuple[str, Mapping[str, Motion], str]:
    """What a motion is of, the kinds that there are, and one of them."""
    mechanism = family.reference
    if mechanism.is_chain:
        told = (
            f"Motions of the independent joints ({', '.join(mechanism.freedoms)}): numbers, or lists with one for each,"
        )
        return told, JOINT_MOTIONS, "swing: {kind: harmonic, centre: 0.0, amplitude: 0.5, period: 1.0}"
    circle = f"circle: {{kind: circle, radius: 0.05, normal: {_normal(family)}, period: 1.0}}"
    return "Motions of the platform, relative to its reference pose,", MOTIONS, circle


def _normal(family: Family) -> list[int]:
    """The direction along which the platform is not free to move, or z."""
    mobility = family.reference.platform.mobility
    return [0, 1, 0] if "vy" not in mobility else [0, 0, 1]


def _around(parameter: Parameter) -> tuple[float, float]:
    default = parameter.default
    assert not isinstance(default, tuple), "parameters of robots are scalars"
    ends = sorted((default * (1 - SPREAD), default * (1 + SPREAD)))
    return max(ends[0], parameter.lower), min(ends[1], parameter.upper)


def _comment(lines: Iterable[str]) -> str:
    return "\n".join(f"#   {line}".rstrip() for line in lines)


_TEMPLATE = """\
# A sweep of {name}: {title}.
# Numbers are in SI units and radians, unless a `unit` stands beside them. See what it would do with `limbsweep check`,
# then start it with `limbsweep run`; both take the name of this file.

limbsweep: 1                      # version of this file format
title: First sweep of {name}
robot: {name}

# Parameters of the robot with their defaults. Set some for the whole sweep here, sweep others under `design`:
{parameters}
# parameters: {fixed}

# Designs: a grid over all combinations, a `list` of values taken together, or a seeded `sample`; all combinations of
# these where several are given. Parameters may follow from others, and conditions leave designs out:
#   sample: {{method: latin_hypercube, count: 1000, seed: 1, parameters: {{{other}: {{low: {low}, high: {high}}}}}}}
#   derive: {{{last}: 2 * {first}}}
#   where: [{first} < 3 * {other}]
design:
  grid:
    {swept}

# Friction of the actuated joints. Laws and their parameters:
{laws}
friction:
  law: coulomb_viscous
  joints: actuated
  grid:
    viscous: {{values: [0.0, 0.05]}}
  parameters: {{coulomb: 0.1}}

# {heading}
# each under a name of your choice. Kinds and their parameters:
{motions}
trajectories:
  {trajectory}

time: {{stop: 1.0, step: 0.001}}    # from zero, both ends included
gravity: {gravity}

outputs: [actuator_force]         # time series to store; may be empty
metrics: [peak_force, rms_force]  # numbers per design, friction set and trajectory; may be empty

# Parts of the sweep by name, for `limbsweep run --subset first`:
# subsets: {{first: {{design: {{stop: 2}}, trajectories: [circle]}}}}
"""
