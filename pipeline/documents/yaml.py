"""Parse YAML text to plain data, with line and column of every key and value, and read YAML files.

Stricter than YAML on purpose: one document, a mapping at the top, no anchors, aliases, merge keys, tags or duplicate
keys, bounded depth and size. Works on the events of the parser, so a file is refused before anything grows from it.
Scalars are parsed in `pipeline.documents.scalars`, long lists of numbers in `pipeline.documents.number_lists`; checks
against a model are in `pipeline.documents.report`.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping

from ruamel.yaml import YAML, events
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from pipeline.documents.brackets import WholeValues
from pipeline.documents.document import Document, KeyPath, Position, SourceText, YamlValue, dotted
from pipeline.documents.files import read_text
from pipeline.documents.number_lists import Blanked, LongList, blank_lists
from pipeline.documents.scalars import Scalar, ScalarError, parse_scalar, strange_character
from pipeline.errors import LIMIT, InputError, Problem, refused, show
from robots.data_classes import dataclass, field

MAX_BYTES = 1 << 20
MAX_DEPTH = 32
MAX_NODES = 20_000
"""Values of a file without its long lists of numbers, so that the scanner reads them within a second."""

MAX_NUMBERS = 200_000
"""Numbers of long lists."""

MAX_LINE = 1 << 16
"""Characters of a line: the time of the scanner grows with the square of some tokens."""

_HALF_NUMBER = re.compile(r":\s+([-+]?[0-9]+),$")
"""The end of a line before a comma that may be a decimal one."""


@dataclass(frozen=True)
class Dialect:
    """Additions to our own YAML that a document may have: tags of scalars, anchors, repeated keys (the last counts).

    A tag is a function that converts the text to a scalar, or raises ScalarError.
    """

    tags: Mapping[str, Callable[[str], Scalar]] = field(default_factory=dict)
    anchors: bool = False
    repeats: bool = False


STRICT = Dialect()


def read_yaml(path: str | os.PathLike[str]) -> Document:
    """Read a YAML file. Raises InputError with file, line, column and advice."""
    name = os.fspath(path)
    return parse_yaml(read_text(name, MAX_BYTES), name)


def parse_yaml(text: str, name: str, dialect: Dialect = STRICT) -> Document:
    """Parse a document, called `name` in messages. Raises InputError with all problems found."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    blanked = blank_lists(text)
    if blanked.size > MAX_NUMBERS:
        raise refused(name, f"{blanked.size} numbers", f"at most {MAX_NUMBERS} in a file")
    document = Document(SourceText(text, name), {})
    composer = _composed(document, blanked, dialect)
    if blanked.lists and (composer.problems or composer.lists):  # a list inside another value or a damaged list
        scanned = _composed(Document(document.source, {}), Blanked(text, {}), dialect)
        composer = scanned if not (scanned.is_full and composer.problems) else composer
    if composer.problems:
        raise InputError(composer.problems)
    return composer.document


def _composed(document: Document, blanked: Blanked, dialect: Dialect) -> _Composer:
    """Compose a document, whose long lists of numbers are not in the text that is scanned, as far as that goes."""
    composer = _Composer(document, blanked, dialect)
    try:
        composer.check_text()
        composer.compose()
    except _Stop:
        pass
    except MarkedYAMLError as error:
        composer.problems.append(_syntax_problem(document.name, error, composer.open))
    except (YAMLError, ValueError) as error:
        got = f"text that is not YAML ({_line(error)})"
        composer.problems.append(Problem(document.name, 0, 0, "", got, "valid YAML"))
    return composer


class _Stop(Exception):  # noqa: N818 - a signal, not an error
    """End of the parsing of a document whose further problems would repeat the last one."""


class _Composer:
    """Composer of the data of a document from parser events; recursion is bounded by MAX_DEPTH.

    `lists` are the lists of numbers that it has not met yet.
    """

    def __init__(self, document: Document, blanked: Blanked, dialect: Dialect) -> None:
        self.document, self.dialect = document, dialect
        self.anchors: dict[str, tuple[YamlValue, int]] = {}
        self.lists = dict(blanked.lists)
        self.problems: list[Problem] = []
        self.nodes = 0
        self.open: list[Position] = []
        self.events: Iterator[events.Event] = WholeValues(iter(YAML(typ="safe", pure=True).parse(blanked.text)))

    @property
    def is_full(self) -> bool:
        """Return whether the composer has stopped because there are too many values."""
        return self.nodes > MAX_NODES

    def report(self, event: events.Event, path: KeyPath, got: str, expected: str, hint: str = "") -> None:
        line, column = _position(event)
        self.problems.append(Problem(self.document.name, line, column, dotted(path), got, expected, hint))
        if len(self.problems) >= LIMIT:
            raise _Stop

    def check_text(self) -> None:
        """Refuse text that the scanner cannot read: control characters, and lines that take it minutes."""
        for number, line in enumerate(self.document.text.split("\n"), 1):
            column, expected = _bad_line(line)
            if expected:
                got = f"character U+{ord(line[column - 1]):04X}" if column <= MAX_LINE else f"{len(line)} characters"
                self.problems.append(Problem(self.document.name, number, column, "", got, expected))
                raise _Stop

    def compose(self) -> None:
        next(self.events)  # start of the stream
        if isinstance(start := next(self.events), events.StreamEndEvent):
            self.problems.append(Problem(self.document.name, 0, 0, "", "an empty file", "a mapping of keys to values"))
            raise _Stop
        assert isinstance(start, events.DocumentStartEvent)
        if start.version not in (None, (1, 2)) or start.tags:
            self.report(start, (), "a directive of another YAML version or tag", "YAML 1.2", "Remove the % lines.")
        data = self.node(next(self.events), ())
        next(self.events)  # end of the document
        if not isinstance(second := next(self.events), events.StreamEndEvent):
            self.report(second, (), "a second document", "one document in a file", "Remove '---' and the rest.")
        if isinstance(data, dict):
            self.document.data.update(data)
        elif not self.problems:
            self.problems.append(self.document.problem((), show(data), "a mapping of keys to values"))

    def node(self, event: events.Event, path: KeyPath) -> YamlValue:
        """Compose the value that begins with an event; takes the events of its content."""
        assert isinstance(event, events.NodeEvent)
        self.document.values[path] = _position(event)
        self.guard(event, path)
        if isinstance(event, events.AliasEvent):
            return self.alias(event, path)
        before = self.nodes
        value = self.scalar(event, path) if isinstance(event, events.ScalarEvent) else self.collection(event, path)
        if event.anchor is not None:
            self.anchors[str(event.anchor)] = value, self.nodes - before
        return value

    def collection(self, event: events.NodeEvent, path: KeyPath) -> YamlValue:
        """Compose a list or mapping that begins with an event."""
        self.open.append(_position(event))
        if isinstance(event, events.MappingStartEvent):
            value: YamlValue = self.mapping(path)
        else:
            value = self.sequence(path, self.lists.pop(_position(event), None))
        self.open.pop()
        return value

    def alias(self, event: events.AliasEvent, path: KeyPath) -> YamlValue:
        """Return the node of an anchor and count its nodes again, so that a small file cannot expand in memory."""
        value, weight = self.anchors.get(str(event.anchor), (None, 0))
        if self.dialect.anchors and str(event.anchor) not in self.anchors:
            self.report(event, path, f"alias {show(str(event.anchor))}", "an anchor that ends before it")
        self.nodes += weight
        self.guard_count(event, path)
        return value

    def guard_count(self, event: events.NodeEvent, path: KeyPath) -> None:
        """Refuse too many nodes."""
        if self.nodes > MAX_NODES:
            hint = "Lists of plain numbers without comments between them may be longer; designs may be in a file."
            self.report(event, path, f"more than {MAX_NODES} values", "a smaller file", hint)
            raise _Stop

    def guard(self, event: events.NodeEvent, path: KeyPath) -> None:
        """Count the node and refuse anchors, aliases, tags, and too many or too deep nodes."""
        self.nodes += 1
        self.guard_count(event, path)
        if len(path) >= MAX_DEPTH and isinstance(event, events.CollectionStartEvent):
            self.report(event, (), "a deeper value", f"at most {MAX_DEPTH} levels of nesting")
            raise _Stop
        tag = event.tag if isinstance(event, events.ScalarEvent | events.CollectionStartEvent) else None
        if event.anchor is not None and not self.dialect.anchors:
            kind = "alias" if isinstance(event, events.AliasEvent) else "anchor"
            self.report(event, path, f"{kind} {show(event.anchor)}", "no anchors or aliases", "Write the value out.")
        elif tag is not None and not (isinstance(event, events.ScalarEvent) and str(tag) in self.dialect.tags):
            self.report(event, path, f"tag {show(str(tag))}", "no tags", "Write the value alone.")

    def sequence(self, path: KeyPath, numbers: LongList | None) -> list[YamlValue]:
        result: list[YamlValue] = []
        if numbers is not None:
            result += numbers.numbers
            self.document.values[path] = numbers.start
            self.document.values.update({(*path, k): place for k, place in enumerate(numbers.places)})
        while not isinstance(event := next(self.events), events.SequenceEndEvent):
            result.append(self.node(event, (*path, len(result))))
        return result

    def mapping(self, path: KeyPath) -> dict[str, YamlValue]:
        result: dict[str, YamlValue] = {}
        while not isinstance(event := next(self.events), events.MappingEndEvent):
            key = self.key(event, path)
            here = (*path, key)
            if key in result and not self.dialect.repeats:
                line = self.document.keys[here][0]
                self.report(event, here, f"the key again, first in line {line}", "every key once", "Remove one.")
            self.document.keys.setdefault(here, _position(event))
            value = self.node(next(self.events), here)
            if key not in result or self.dialect.repeats:
                result[key] = value
        return result

    def key(self, event: events.Event, path: KeyPath) -> str:
        """Compose a key in Unicode's normal form C; a key that is no text is reported and replaced by a text."""
        if not isinstance(event, events.ScalarEvent):
            value = self.node(event, (*path, "?"))
        elif event.value == "<<" and not event.style:
            value = "<<"
            self.report(event, path, "merge key '<<'", "no merge keys", "Write the keys out.")
        else:
            self.guard(event, path)
            if number := self._decimal_comma(event):
                hint = f"Write {number.replace(',', '.')}: inside braces a comma ends the value."
                self.report(event, path, f"{number}, a number with a comma", "a number with a decimal point", hint)
                return f"?{self.nodes}"
            value = self.scalar(event, path)
        if isinstance(value, str) and value:
            return unicodedata.normalize("NFC", value)
        got = "an empty key" if value in (None, "") else f"key {show(value)}"
        self.report(event, path, got, "keys that are text", "Quote it if it is a name.")
        return f"?{self.nodes}"

    def _decimal_comma(self, event: events.ScalarEvent) -> str:
        """Return the number with a comma of which a key inside braces is the end, as in `{radius: 0,1}`."""
        if event.style or not event.value.isdigit():
            return ""
        line, column = _position(event)
        text = self.document.source.line(line)
        before = _HALF_NUMBER.search(text[: column - 1])
        is_key = text[column - 1 + len(event.value) :].lstrip().startswith(":")
        return f"{before[1]},{event.value}" if before and not is_key else ""

    def scalar(self, event: events.ScalarEvent, path: KeyPath) -> Scalar:
        if strange := strange_character(event.value):
            self.report(event, path, f"character {strange}", "visible characters only", "Delete it and type it anew.")
            return "?"
        try:
            if event.tag is not None and (read := self.dialect.tags.get(str(event.tag))):
                return read(event.value)
            return parse_scalar(event.value) if event.implicit[0] and not event.style else str(event.value)
        except ScalarError as error:
            self.report(event, path, _brief(event.value), error.expected, error.hint)
            return "?"


def _position(event: events.Event) -> Position:
    return event.start_mark.line + 1, event.start_mark.column + 1


def _bad_line(line: str) -> tuple[int, str]:
    """Find the mistake in a line: its column and the expected value; 0 and an empty text for a correct line."""
    if len(line) > MAX_LINE:
        return MAX_LINE + 1, f"lines of at most {MAX_LINE} characters"
    if line.isprintable():
        return 0, ""
    for column, character in enumerate(line, 1):
        if character != "\t" and (
            unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") or character in "\ufffe\uffff"
        ):
            return column, "text without control characters"
    return 0, ""


def _syntax_problem(name: str, error: MarkedYAMLError, opened: list[Position]) -> Problem:
    mark = error.problem_mark or error.context_mark
    line, column = (mark.line + 1, mark.column + 1) if mark else (0, 0)
    if error.context_mark and error.context_mark is not mark:
        opened = [*opened, (error.context_mark.line + 1, error.context_mark.column + 1)]
    hint = f"The open part began in line {opened[-1][0]}, column {opened[-1][1]}." if opened else ""
    hint = "Indent with spaces, not tabs." if "\\t" in str(error.problem) else hint
    return Problem(name, line, column, "", f"text that is not YAML ({_line(error.problem)})", "valid YAML", hint)


def _line(value: object) -> str:
    return " ".join(ascii(str(value))[1:-1].replace("\\n", " ").split())[:200]


def _brief(text: str) -> str:
    return text if len(text) <= 40 and text.isprintable() else ascii(text[:37])[1:-1] + "..."
