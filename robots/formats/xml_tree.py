"""XML as a small tree with lines, hardened: no document types, no entities, bounded depth, size and count.

Entities, entity bombs and reads of other files need a document type, so the first sign of one is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from xml.parsers import expat

from robots.data_classes import dataclass, field

MAX_DEPTH = 32
MAX_ELEMENTS = 100_000
MAX_BYTES = 8 << 20


class FormatError(ValueError):
    """A file that cannot be used: `line` (0: the whole), place, got, expected, advice."""

    def __init__(self, line: int, place: str, got: str, expected: str, hint: str = "") -> None:
        super().__init__(f"line {line} {place}: got {got}; expected {expected}. {hint}".rstrip())
        self.line, self.place, self.got, self.expected, self.hint = line, place, got, expected, hint


class ImportedError(ValueError):
    """A file that cannot be imported, with all its problems."""

    def __init__(self, problems: Sequence[FormatError]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))


@dataclass
class Element:
    """An element: its tag, the line and column where it starts (from 1), attributes, children, text between them."""

    tag: str
    line: int
    column: int
    attributes: dict[str, str]
    children: list[Element] = field(default_factory=list)
    text: str = ""

    def all(self, tag: str) -> Iterator[Element]:
        """Yield the children with a tag."""
        return (child for child in self.children if child.tag == tag)

    def first(self, tag: str) -> Element | None:
        """Return the first child with a tag."""
        return next(self.all(tag), None)


TRUE, FALSE = ("true", "1"), ("false", "0")
"""Words of truth values, in small and capital letters, as libsdformat reads them."""


def is_true(text: str) -> bool:
    """Return whether a word of a file says true."""
    return text.strip().lower() in TRUE


def parse(data: bytes, depth: int = MAX_DEPTH) -> Element:
    """Return the root of an XML document of at most `depth` levels. Raises FormatError."""
    if len(data) > MAX_BYTES:
        raise FormatError(0, "", f"{len(data)} bytes", f"at most {MAX_BYTES}", "Take meshes and other data out of it.")
    builder = _Builder(depth)
    try:
        try:
            builder.parser.Parse(data, True)
        except expat.ExpatError:
            if (plain := _as_others_read(data)) == data:
                raise
            builder = _Builder(depth)
            builder.parser.Parse(plain, True)
    except expat.ExpatError as error:
        got = f"text that is not XML ({expat.ErrorString(error.code)})"
        raise FormatError(error.lineno, "", got, "well-formed XML") from None
    except (LookupError, ValueError) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(0, "", "an encoding that is not known", "UTF-8 text", "Save it as UTF-8.") from None
    assert builder.root is not None  # the parser refuses an empty document
    return builder.root


_COMMENT = re.compile(rb"<!--(.*?)-->", re.DOTALL)
_ENDED_AGAIN = re.compile(rb"(</([\w:]+)\s*>)(?:\s*</\2\s*>)+\s*\Z")
NEAR_END = 1000
"""Bytes at the end of a document in which it may end again."""


def _as_others_read(data: bytes) -> bytes:
    """Return a document without `--` in comments and its end again behind the end, which other parsers pass over."""
    if b"<![CDATA[" in data:
        return data
    data = data[:-NEAR_END] + _ENDED_AGAIN.sub(rb"\1", data[-NEAR_END:])
    return _COMMENT.sub(lambda match: b"<!--" + match[1].replace(b"-", b" ") + b"-->", data)


_TAG = re.compile(rb"<([A-Za-z_][^>\s/]*)")


def root_tag(data: bytes) -> str:
    """Return the tag of the first element, which tells the format; empty without one in the first 64 KiB."""
    head, at = data[: 1 << 16], 0
    while (at := head.find(b"<", at)) >= 0:
        if start := _TAG.match(head, at):
            return start[1].decode("ascii", "replace")
        at = head.find(b"-->", at) if head.startswith(b"<!--", at) else at + 1
        if at < 0:
            break
    return ""


class _Builder:
    """Receiver of the events of the parser."""

    def __init__(self, depth: int) -> None:
        self.depth = depth
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartDoctypeDeclHandler = self.doctype
        self.parser.StartElementHandler = self.start
        self.parser.CharacterDataHandler = self.characters
        self.parser.EndElementHandler = self.end
        self.root: Element | None = None
        self.open: list[Element] = []
        self.texts: list[list[str]] = []
        self.count = 0

    def doctype(self, *_: object) -> None:
        line = self.parser.CurrentLineNumber
        raise FormatError(line, "", "a document type", "no DOCTYPE and no entities", "Remove it.")

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        line, column = self.parser.CurrentLineNumber, self.parser.CurrentColumnNumber + 1
        self.count += 1
        if len(self.open) >= self.depth:
            raise FormatError(line, "", "a deeper element", f"at most {self.depth} levels of nesting")
        if self.count > MAX_ELEMENTS:
            raise FormatError(line, "", f"more than {MAX_ELEMENTS} elements", "a smaller file")
        element = Element(tag, line, column, attributes)
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.root = element
        self.open.append(element)
        self.texts.append([])

    def characters(self, text: str) -> None:
        if self.open and (text := text.strip()):
            self.texts[-1].append(text)

    def end(self, tag: str) -> None:
        self.open.pop().text = "".join(self.texts.pop())


def group(tag: str, children: list[Element], **attributes: str) -> Element:
    """Return an element with children."""
    return Element(tag, 0, 1, attributes, children)


def numbers_of(tag: str, *numbers: float) -> Element:
    """Return an element whose text is numbers."""
    return Element(tag, 0, 1, {}, [], " ".join(repr(float(number)) for number in numbers))
