"""Names of stores that every file system takes, and that nobody takes for an option or an address."""

from __future__ import annotations

from pathlib import Path

from pipeline.errors import InputError, Problem, show

LONGEST = 200
"""Bytes of a name: most file systems allow 255, and drafts beside a store have longer ones."""


def check_store_name(place: Path, option: str = "--store") -> None:
    """Raises InputError for the path of a store whose last part is no sane name of a folder."""
    name = place.name
    rules = (
        (len(name.encode(errors="surrogateescape")) > LONGEST, f"a name of at most {LONGEST} bytes"),
        (not name.isprintable(), "a name of visible characters"),
        (name.startswith("-"), "a name that is not like an option"),
        (name.endswith((".", " ")) and name.strip(".") != "", "a name without a dot or a space at its end"),
    )
    if rule := next((rule for broken, rule in rules if broken), ""):
        raise InputError([Problem(option, 0, 0, "", show(name), rule, "Choose another name.")])
