"""Read the section `publication` of a sweep: licence, authors and version of the dataset that it makes."""

from __future__ import annotations

import re
from typing import Annotated, Self

from pydantic import Field

from pipeline.documents.report import Got
from pipeline.documents.validation import OneOrMore, Section, Text
from pipeline.sweep.publication.publication import EXPECTED, LINK, Publication, checked_licence
from pipeline.sweep.reading import SectionContent, SweepReading, optional

KEY = "publication"

DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


Authors = Annotated[tuple[Text, ...], Field(max_length=1000), OneOrMore]


class PublicationSection(Section):
    """Licence, authors, version and citation of a dataset, for its users. The section changes no result."""

    licence: Text | None = Field(default=None, description=EXPECTED)
    authors: Authors = ()
    """names of the authors"""
    version: Text = "1.0.0"
    """version of the dataset"""
    date: Text | None = None
    """date, such as 2026-11-27; default: that of the store"""
    address: Text | None = None
    """web address where the dataset is, or will be"""
    citation: Text | None = None
    """citation in BibTeX; default: made of the other keys"""
    summary: Text | None = None
    """description of the dataset, in some sentences"""


class PublicationContent(SectionContent[Publication, PublicationSection | None]):
    """Licence, authors and version of a dataset; they change no result, so they are not part of the fingerprint."""

    key = KEY
    field = optional(PublicationSection, "licence, authors, version of the dataset that the sweep makes")

    @classmethod
    def read(cls, reading: SweepReading) -> Self:
        """Read the section; an unknown licence and a date of another form are reported."""
        section, report, licence = reading.said(cls) or PublicationSection(), reading.report, ""
        if section.licence is not None:
            try:
                licence = checked_licence(section.licence)
            except ValueError:
                report((KEY, "licence"), section.licence, EXPECTED, "")
        if section.date is not None and not DATE.fullmatch(section.date):
            report((KEY, "date"), section.date, "a date such as 2026-11-27", "")
        if section.address is not None and not LINK.fullmatch(section.address):
            report((KEY, "address"), Got("this text"), "an address that begins with https://", "")
        texts = {name: getattr(section, name) or "" for name in ("date", "address", "citation", "summary")}
        return cls(Publication(licence, section.authors, section.version, **texts))
