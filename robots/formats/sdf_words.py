"""Words of SDF files that have few values: truth values and formats of rotations. Others are refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from robots.formats.xml_tree import FALSE, TRUE, Element, FormatError

_TRUTH = ("true", "false")
ELEMENTS: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("model", "static"): _TRUTH,
    ("include", "static"): _TRUTH,
    ("link", "gravity"): _TRUTH,
    ("link", "kinematic"): _TRUTH,
    ("axis", "use_parent_model_frame"): _TRUTH,
    ("axis2", "use_parent_model_frame"): _TRUTH,
}
"""Values of the text of a child, by the tags of its parent and of it."""

ATTRIBUTES: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("pose", "degrees"): _TRUTH,
    ("pose", "rotation_format"): ("euler_rpy", "quat_xyzw"),
    ("inertial", "auto"): _TRUTH,
    ("include", "merge"): _TRUTH,
}
"""Values of an attribute, by the tag of its element and its name. An empty one has its default."""


def unclear_words(root: Element) -> Iterator[FormatError]:
    """Yield the words of a file that have another value."""
    stack = [(root, "")]
    while stack:
        element, place = stack.pop()
        name = element.attributes.get("name")
        place = place if name is None else f"{element.tag} {name}"
        for key, text in element.attributes.items():
            yield from _unclear(element, place, key, text, ATTRIBUTES.get((element.tag, key)))
        for child in reversed(element.children):
            yield from _unclear(child, place, child.tag, child.text, ELEMENTS.get((element.tag, child.tag)))
            stack.append((child, place))


def _unclear(
    element: Element, place: str, name: str, text: str, values: tuple[str, ...] | None
) -> Iterator[FormatError]:
    word = text.strip()
    if not word or values is None:
        return
    if word not in values and (values is not _TRUTH or word.lower() not in (*TRUE, *FALSE)):
        yield FormatError(element.line, place, f"{name} {word[:60]!a}", f"{values[0]} or {values[1]}")
