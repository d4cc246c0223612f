"""Robot families that are made of other families: with parameters more, which change what these assemble."""

from __future__ import annotations

import functools
import hashlib
from dataclasses import dataclass, replace
from functools import cached_property

from robots.formats.description import Description
from robots.model import Family


@dataclass(frozen=True, eq=False)
class ExtendedDescription(Description):
    """A family with parameters more than those of its `base`; who extends it says what mechanism they give."""

    base: Family | None = None

    @property
    def in_file(self) -> Description | None:
        """The robot without these parameters, which are a section of their own."""
        base = self.base.assemble if self.base else None
        return base.in_file if isinstance(base, Description) else None

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the robot and the parameters."""
        base = self.base.assemble if self.base else None
        said = base.digest if isinstance(base, Description) else self.name
        return hashlib.sha256(repr((said, type(self).__name__, self.parameters)).encode()).hexdigest()

    def __eq__(self, other: object) -> bool:
        """Whether both say the same of one family; a digest has but the name of a family of code."""
        return isinstance(other, type(self)) and self.digest == other.digest and self.base == other.base

    def __hash__(self) -> int:
        return hash(self.digest)

    @property
    def family(self) -> Family:
        """The family; one for all equal descriptions of a process, so that kernels are compiled once."""
        return _family(self)


@functools.lru_cache(maxsize=64)
def _family(description: ExtendedDescription) -> Family:
    assert description.base is not None
    return replace(description.base, parameters=description.parameters, assemble=description)
