"""See that the kinematics of a robot can be solved as it is described, before a sweep is planned or run."""

from __future__ import annotations

from pipeline.documents.report import Got, Report
from robots.formats.description import Description


def check_solvable(report: Report, description: Description) -> None:
    """Choose rows and independent joints of every limb, as kernels will; report where that is not possible."""
    from tasks.mechanics.structure import structure_of
    from tasks.mechanics.topology import TopologyError

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
    """What was got, what was expected, and advice, of the text of an error."""
    said, _, hint = text.partition("; ")
    _, result, got = said.partition(": ")
    got = (got if result else said).removeprefix("got ")
    if hint.startswith("expected "):
        rule, _, hint = hint.removeprefix("expected ").partition("; ")
    else:
        rule = "limbs that can be solved"
    return got, rule, f"{hint[:1].upper()}{hint[1:]}." if hint else ""
