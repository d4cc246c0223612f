"""Content of a section of a sweep file: its value in SI units, and its part of the fingerprint of a sweep."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, overload

from robots.data_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

FORMAT = 1
"""Version of the file format that this program reads."""

Value = TypeVar("Value")


@dataclass(frozen=True)
class Content(Generic[Value]):
    """Checked content of a section; where the file lacks the section, its default."""

    key: ClassVar[str]
    """Its name among the sections of a sweep, in most cases that in the file."""
    is_input: ClassVar[bool] = False
    """True if the value is the same input of all blocks, under its key."""
    is_feature: ClassVar[bool] = False
    """True if the value is a feature of the dynamics (`tasks.stages.request.Feature`) with its inputs."""
    value: Value

    def describe(self) -> dict[str, Any]:
        """Describe its part of the fingerprint, in types of JSON by keys of `Sweep.canonical`; {} for a default."""
        return {}

    def block_inputs(self, places: Mapping[str, slice]) -> dict[str, Any]:
        """Return its inputs of a block, by fields of `tasks.blocks.block.Block`; `places` are its ranges by dim."""
        return {self.key: self.value} if self.is_input else {}


class SectionValue(Generic[Value]):
    """Attribute of a sweep that is the value of a section, by the key of that section or its own name."""

    def __init__(self, key: str = "") -> None:
        self.key = key

    def __set_name__(self, owner: type, name: str) -> None:
        """Take the name of the attribute where no key was given."""
        self.key = self.key or name

    @overload
    def __get__(self, sweep: None, owner: type) -> SectionValue[Value]: ...
    @overload
    def __get__(self, sweep: HasSections, owner: type) -> Value: ...
    def __get__(self, sweep: HasSections | None, owner: type) -> Value | SectionValue[Value]:
        """Return the value in a sweep."""
        if sweep is None:
            return self
        value: Value = sweep.sections[self.key].value
        return value


class HasSections:
    """Base of records with sections by key."""

    sections: Mapping[str, Content[Any]]
