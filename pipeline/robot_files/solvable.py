"""Checks that kernels can solve a robot of a file: choice of rows and joints, and loops that do not move.

Only functions that need it import this module, as it imports mechanics.
"""

from __future__ import annotations

from collections.abc import Iterator

from pipeline.documents.report import Got, Report
from pipeline.errors import Problem
from robots.formats.description import Description
from tasks.mechanics.families import structure_of
from tasks.mechanics.reference_loops import stuck_loops
from tasks.mechanics.topology import TopologyError


def check_solvable(report: Report, description: Description) -> None:
    """Choose rows and independent joints of every limb, as kernels will; report where that is not possible."""
    try:
        structure_of(description.family)
    except TopologyError as error:
        text = str(error)
        limb = next((entry for entry in description.template.limbs if f" {entry.name}" in text.partition(":")[0]), None)
        within: tuple[str, ...] = () if limb is None else ("limbs", limb.name)
        chain = description.template.is_chain and "actuated" in text
        if description.platform is not None:
            within = ("platform", "coordinates")
        got, rule, hint = _parts(text)
        report((*within, "actuated") if chain and limb is not None else within, Got(got), rule, hint)


def _parts(text: str) -> tuple[str, str, str]:
    """Split the text of an error into the value that was got, the expected value, and advice."""
    said, _, hint = text.partition("; ")
    _, result, got = said.partition(": ")
    got = (got if result else said).removeprefix("got ")
    if hint.startswith("expected "):
        rule, _, hint = hint.removeprefix("expected ").partition("; ")
    else:
        rule = "limbs that can be solved"
    return got, rule, f"{hint[:1].upper()}{hint[1:]}." if hint else ""


def stuck(description: Description, name: str) -> Iterator[Problem]:
    """Yield a warning for loops that are rigid, or singular where the robot is put together."""
    for loop in stuck_loops(description.family):
        named = ", ".join(loop.joints[:4]) + (", ..." if len(loop.joints) > 4 else "")
        got = f"a loop that is singular at the reference pose ({named})"
        hint = "Samples near it are SINGULAR. Give other rough positions under reference in a file for --loops."
        if loop.is_rigid:
            got = f"a loop that lets nothing move ({named})"
            hint = "Axes may not be as parallel as they are meant, or a ball or cross be one axis here."
        yield Problem(name, 0, 0, "", got, "loops that move", hint)
