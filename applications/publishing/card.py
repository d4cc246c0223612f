"""README.md of a published dataset: front matter as Hugging Face reads it, then text for people."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from applications.identification import dataset_card
from applications.publishing.episodes import Episodes
from applications.publishing.tables import FOLDER
from pipeline.sweep.publication.publication import LICENCES, Publication
from robots.data_classes import dataclass

if TYPE_CHECKING:
    from pipeline.sweep.model import Sweep

SIZES = ("n<1K", "1K<n<10K", "10K<n<100K", "100K<n<1M", "1M<n<10M", "10M<n<100M", "100M<n<1B", "1B<n<10B",
         "10B<n<100B", "100B<n<1T", "n>1T")  # fmt: skip
"""Numbers of samples, as Hugging Face names them."""


@dataclass(frozen=True)
class PublishedDataset:
    """Subject of a publication: its episodes, the sweep that made them, its publication and its small tables."""

    episodes: Episodes
    sweep: Sweep
    publication: Publication
    tables: Sequence[str]

    @property
    def title(self) -> str:
        """Return the title of the dataset."""
        return self.sweep.title or f"Identification data of {self.sweep.robot}"

    @property
    def name(self) -> str:
        """Return the title as a name of letters, digits and dashes."""
        return re.sub(r"[^a-z0-9]+", "-", self.title.lower()).strip("-")[:80] or "dataset"

    @property
    def date(self) -> str:
        """Return the date of the publication, or that of the store."""
        return self.publication.date or str(self.episodes.data.attrs.get("created", "1970-01-01"))[:10]

    @property
    def summary(self) -> str:
        """Return some sentences about the dataset."""
        family, data = self.sweep.family, self.episodes.data
        written = (
            f"Simulated motions and forces of {data.sizes['design']} designs of the robot {self.sweep.robot} "
            f"({family.title}), {len(self.episodes.rows)} episodes of {self.episodes.length} samples, one every "
            f"{self.episodes.step:g} s, for the identification of dynamic parameters and for learning."
        )
        return self.publication.summary or written

    @property
    def citation(self) -> str:
        """Return the citation in BibTeX."""
        if self.publication.citation:
            return self.publication.citation.strip()
        metadata = {
            "title": "{" + self.title + "}",
            "author": " and ".join(self.publication.authors),
            "year": self.date[:4],
            "version": self.publication.version,
            "url": self.publication.address,
            "note": f"Made with limbsweep; fingerprint {self.sweep.fingerprint[:16]}",
        }
        rows = "".join(f"  {key} = {{{value}}},\n" for key, value in metadata.items() if value)
        return f"@misc{{{self.name},\n{rows}}}"


def card(published: PublishedDataset) -> str:
    """Return the text of README.md."""
    return "\n".join(_lines(published)) + "\n"


def front_matter(published: PublishedDataset) -> dict[str, Any]:
    """Return licence, name, tags, size, and the configurations with the files of each split."""
    licence = published.publication.licence
    metadata: dict[str, Any] = {"license": licence if licence in LICENCES else "other"}
    if licence not in LICENCES:
        metadata |= {"license_name": "see-link", "license_link": licence}
    samples = len(published.episodes.rows) * published.episodes.length
    return metadata | {
        "pretty_name": published.title,
        "version": published.publication.version,
        "task_categories": ["robotics"],
        "tags": ["LeRobot", "robotics", "system-identification", "inverse-dynamics", published.sweep.robot],
        "size_categories": [SIZES[min(max(len(str(samples)) - 3, 0), len(SIZES) - 1)]],
        "configs": list(_configurations(published)),
    }


def _configurations(published: PublishedDataset) -> Iterator[dict[str, Any]]:
    splits = [
        {"split": part, "path": f"data/chunk-{number:03d}/*.parquet"}
        for number, part in enumerate(published.episodes.counts)
    ]
    yield {"config_name": "samples", "default": True, "data_files": splits}
    yield {"config_name": "episodes", "data_files": "meta/episodes/*/*.parquet"}
    for name in published.tables:
        yield {"config_name": name, "data_files": f"{FOLDER}/{name}.parquet"}


def _lines(published: PublishedDataset) -> Iterator[str]:
    from ruamel.yaml import YAML

    text = io.StringIO()
    writer = YAML()
    writer.width = 4096  # titles are not folded
    writer.dump(front_matter(published), text)
    yield "---"
    yield text.getvalue().rstrip()
    yield "---"
    yield ""
    yield f"# {published.title}"
    yield ""
    yield published.summary
    yield ""
    yield from _facts(published)
    yield from _columns(published)
    loading = files("applications.publishing").joinpath("loading.txt").read_text("utf-8")
    yield loading.replace("COLUMN", published.episodes.signals[0].name).rstrip()
    yield ""
    body = list(dataset_card.lines(published.sweep, published.episodes.data))
    first = next(k for k, line in enumerate(body) if line.startswith("- "))
    origin = (line for line in body[first:] if not line.startswith("- samples that could not"))
    yield from ["## Origin", "", *origin]
    yield from ["", "## Citation", "", "```bibtex", published.citation, "```"]


def _facts(published: PublishedDataset) -> Iterator[str]:
    publication, episodes = published.publication, published.episodes
    yield f"- licence: {publication.licence} ({publication.licence_address})"
    yield f"- authors: {', '.join(publication.authors)}"
    yield f"- version: {publication.version}, {published.date}"
    yield "- episodes: " + ", ".join(f"{count} for {part}" for part, count in episodes.counts.items())
    if episodes.left_out:
        yield f"- left out: {episodes.left_out} cases with samples that could not be computed"
    yield ""


def _columns(published: PublishedDataset) -> Iterator[str]:
    """Write the table of the columns of samples, with units."""
    yield "## Columns"
    yield ""
    yield "| column | unit | numbers | meaning |"
    yield "|---|---|---:|---|"
    for signal in published.episodes.signals:
        parts = f": {', '.join(signal.components)}" if 1 < signal.width <= 12 else ""
        yield f"| `{signal.name}` | {signal.units} | {signal.width} | {signal.text}{parts} |"
    dims = [f"`{dim}`" for dim in published.episodes.dims]
    yield f"| {', '.join(dims)} | 1 | 1 | numbers of the case: rows of the tables in `{FOLDER}` |"
    yield "| `timestamp` | s | 1 | time from the start of the episode, `frame_index` times the step |"
    yield "| `frame_index`, `episode_index`, `index`, `task_index` | 1 | 1 | number of the sample in its episode, of "\
          "the episode, of the sample in the dataset, of the trajectory |"  # fmt: skip
    yield ""
