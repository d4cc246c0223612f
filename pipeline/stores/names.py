"""Names of stores that every file system takes and that cannot be mistaken for an option or an address."""

from __future__ import annotations

import os
from pathlib import Path

from pipeline.errors import refused, show

LONGEST = 200
"""Bytes of a name: most file systems allow 255, and drafts beside a store have longer ones."""

LONGEST_PART = 255
LONGEST_PATH = 4000
"""Bytes of a whole path: systems allow 4096."""

FLEETING = ("memory://",)
"""Beginnings of URLs whose places vanish with the process that filled them."""


def check_place(text: str, option: str) -> None:
    """Raise InputError for a name that is neither a file nor a store: empty, or too long for the system."""
    rules = (
        (not text.strip(), "a path or a URL"),
        ("\0" in text, "a path without NUL"),
        (len(os.fsencode(text)) > LONGEST_PATH, f"at most {LONGEST_PATH} bytes"),
        (any(len(os.fsencode(part)) > LONGEST_PART for part in text.split("/")), f"a name of at most {LONGEST} bytes"),
        (text.lower().startswith(FLEETING), "a place that outlives this process"),
    )
    if rule := next((rule for broken, rule in rules if broken), ""):
        hint = "For instance --store results.zarr." if option == "--store" else "Choose another name."
        raise refused(option, show(text), rule, hint)


def check_store_name(place: Path) -> None:
    """Raise InputError for the path of a store whose last part is not a usable name of a folder."""
    name = place.name
    rules = (
        (len(name.encode(errors="surrogateescape")) > LONGEST, f"a name of at most {LONGEST} bytes"),
        (not name.isprintable(), "a name of visible characters"),
        (name.startswith("-"), "a name that is not like an option"),
        (name.endswith((".", " ")) and name.strip(".") != "", "a name without a dot or a space at its end"),
    )
    if rule := next((rule for broken, rule in rules if broken), ""):
        raise refused("--store", show(name), rule, "Choose another name.")
