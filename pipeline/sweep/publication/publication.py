"""Licence, authors, version and citation of a dataset, for its users."""

from __future__ import annotations

import re

from robots.data_classes import dataclass, replace

LICENCES = {
    "apache-2.0": "Apache-2.0",
    "bsd-3-clause": "BSD-3-Clause",
    "cc-by-4.0": "CC-BY-4.0",
    "cc-by-nc-4.0": "CC-BY-NC-4.0",
    "cc-by-sa-4.0": "CC-BY-SA-4.0",
    "cc0-1.0": "CC0-1.0",
    "cdla-permissive-2.0": "CDLA-Permissive-2.0",
    "mit": "MIT",
    "odbl": "ODbL-1.0",
    "odc-by": "ODC-By-1.0",
    "pddl": "PDDL-1.0",
}
"""Licences by the names that Hugging Face has for them, with those of SPDX."""

LINK = re.compile(r"https?://\S{1,500}")
EXPECTED = f"one of {', '.join(LICENCES)}, or the address of a licence"


@dataclass(frozen=True)
class Publication:
    """Licence, authors, version and citation of a dataset; an empty field is unknown."""

    licence: str = ""
    authors: tuple[str, ...] = ()
    version: str = "1.0.0"
    date: str = ""
    address: str = ""
    citation: str = ""
    summary: str = ""

    @property
    def licence_address(self) -> str:
        """Return the web address of the licence."""
        spdx = LICENCES.get(self.licence)
        return f"https://spdx.org/licenses/{spdx}.html" if spdx else self.licence

    def with_options(self, licence: str | None, authors: tuple[str, ...]) -> Publication:
        """Return a copy with the values of options. Raises ValueError for an unknown licence."""
        changed = self
        if licence is not None:
            changed = replace(changed, licence=checked_licence(licence))
        return replace(changed, authors=authors) if authors else changed


def checked_licence(text: str) -> str:
    """Return a licence as Hugging Face spells it, or its address. Raises ValueError for another text."""
    spelt = text.strip().lower()
    by_spdx = {name.lower(): key for key, name in LICENCES.items()}
    if (known := by_spdx.get(spelt, spelt)) in LICENCES:
        return known
    if LINK.fullmatch(text.strip()):
        return text.strip()
    raise ValueError(f"licence: got {text!r:.100}; expected {EXPECTED}")
