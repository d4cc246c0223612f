"""Write the ratings of a robot file into its first sweep: limits, friction, a motion inside ranges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from robots.formats import writing
from robots.formats.description import Description
from robots.formats.ratings import Rating
from robots.model import Family

AMPLITUDE = 0.1
"""Amplitude of the first motion of a joint [rad or m], where its range lets it."""


def ratings(family: Family) -> Mapping[str, Rating]:
    """Return the ratings of joints by name; empty for a robot of the catalogue."""
    known = family.assemble.ratings if isinstance(family.assemble, Description) else ()
    return {rating.joint: rating for rating in known}


def motion(family: Family, share: float = 1.0) -> str:
    """Write a motion of the independent joints: about the reference pose, or the middle of a range without it."""
    known, centres, amplitudes = ratings(family), list[float](), list[float]()
    for joint in family.reference.freedoms:
        centre, amplitude = _inside(known.get(joint))
        centres.append(centre)
        amplitudes.append(amplitude * share)
    centre_text = f"centre: {_numbers(centres)}, " if any(centres) else ""
    text = f"{amplitudes[0]:.3g}" if len(set(amplitudes)) == 1 else _numbers(amplitudes)
    return f"first: {{kind: harmonic, {centre_text}amplitude: {text}, period: 1.0}}"


def _inside(rating: Rating | None) -> tuple[float, float]:
    """Centre and amplitude of a motion inside a range."""
    if rating is None or rating.low is None or rating.high is None:
        return 0.0, AMPLITUDE
    if rating.low <= -AMPLITUDE and rating.high >= AMPLITUDE:
        return 0.0, AMPLITUDE
    return 0.5 * (rating.low + rating.high), min(AMPLITUDE, 0.25 * (rating.high - rating.low))


def _numbers(values: list[float]) -> str:
    return "[" + ", ".join(f"{float(f'{value:.6g}')!r}" for value in values) + "]"


def friction(family: Family) -> str:
    """Write the friction of joints as the file of the robot has it, joints with the same numbers together."""
    groups: dict[tuple[float, float], list[str]] = {}
    for rating in ratings(family).values():
        numbers = rating.coulomb or 0.0, rating.viscous or 0.0
        if any(numbers):
            groups.setdefault(numbers, []).append(rating.joint)
    if not groups:
        return ""
    lines = ["# As the file of the robot has it.", "friction:", "  groups:"]
    for number, ((coulomb, viscous), joints) in enumerate(groups.items(), start=1):
        lines += [f"    rated{number}:", "      law: coulomb_viscous", f"      joints: {_names(joints)}"]
        lines.append(f"      parameters: {{coulomb: {coulomb!r}, viscous: {viscous!r}}}")
    return "\n".join(lines) + "\n"


def _names(joints: list[str]) -> str:
    """Return the names of joints in brackets, a few in each line."""
    texts = [writing.scalar(_literal(joint)) for joint in joints]
    rows = [", ".join(texts[k : k + 4]) for k in range(0, len(texts), 4)]
    return "[" + (",\n        ".join(rows)) + "]"


def _literal(joint: str) -> str:
    """Return the pattern that means one joint."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in joint)


def limits(family: Family, *, kept: bool = True) -> str:
    """Write ranges and capacities of joints as the file of the robot has them; nothing where it has none.

    As a comment where they are not `kept`, because the robot is beyond them from the start.
    """
    known, mechanism = ratings(family), family.reference
    if not known:
        return ""
    joints = [f"    {_names([name])[1:-1]}: {text}" for name, text in _ranges(known)]
    driven = [name for name in mechanism.actuators if name in known]
    actuators = [f"    {_names([name])[1:-1]}: {text}" for name in driven if (text := _capacity(known[name]))]
    lines = ["# As the file of the robot has them; samples beyond a range have the status JOINT_LIMIT.", "limits:"]
    lines += ["  joints:", *joints] if joints else []
    lines += ["  actuators:", *actuators] if actuators else []
    if not kept:
        said = "# As the file of the robot has them. They do not count here: the first motion is beyond some of them."
        lines = [said, *(f"# {line}" for line in lines[1:])]
    return "\n".join(lines) + "\n\n" if joints or actuators else ""


def _ranges(known: Mapping[str, Rating]) -> Iterator[tuple[str, str]]:
    for name, rating in known.items():
        if rating.low is not None and rating.high is not None:
            velocity = f", velocity: {rating.velocity!r}" if rating.velocity else ""
            yield name, f"{{position: [{rating.low!r}, {rating.high!r}]{velocity}}}"


def _capacity(rating: Rating) -> str:
    numbers = {"force": rating.force, "velocity": rating.velocity}
    said = ", ".join(f"{name}: {value!r}" for name, value in numbers.items() if value)
    return f"{{{said}}}" if said else ""
