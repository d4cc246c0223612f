"""What notebooks show: of a robot its picture at the reference pose and its parameters; a report below a cell."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from html import escape
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

from pipeline.documents.html import table
from pipeline.report.data.results import Results
from robots.model import Robot

WIDTH = 320
"""Of the picture [px]."""


def robot_html(robot: Robot) -> str:
    """A robot as HTML, with its picture inside."""
    from pipeline.report.data.sketch import draw

    picture = BytesIO()
    draw(robot).savefig(picture, dpi=100, format="png")
    data = b64encode(picture.getvalue()).decode()
    rows = [(p.name, f"{robot.values[p.name]:g}", p.unit, p.text) for p in robot.family.parameters]
    mechanism = robot.mechanism
    title = f"{robot.name}: {len(mechanism.freedoms)} freedoms, {len(mechanism.actuators)} actuators"
    image = f'<img alt="{robot.name} at its reference pose" width="{WIDTH}" src="data:image/png;base64,{data}">'
    parameters = table(title, rows, ("parameter", "value", "unit", ""))
    beside = f'<div style="flex:1 1 24em">{parameters}</div>'  # below the picture where there is no room beside it
    return f'<div style="display:flex;flex-wrap:wrap;gap:16px;align-items:flex-start">{image}{beside}</div>'


HEIGHT = 720
"""Of a report below a cell [px]."""


@dataclass(frozen=True)
class InlineReport:
    """A report as a frame of a notebook, which keeps its scripts and styles to itself."""

    html: str

    @classmethod
    def of(cls, results: Results) -> InlineReport:
        """The report of some results. Raises InputError where there is nothing to report."""
        from pipeline.report.page import page

        with TemporaryDirectory(prefix="limbsweep-") as folder:
            path = Path(folder) / "report.html"
            page.write(results, path)
            return cls(path.read_text("utf-8"))

    def __repr__(self) -> str:
        """How large it is."""
        return f"<report of {len(self.html) / 1e6:.1f} MB>"

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{escape(self.html)}" width="100%" height="{HEIGHT}" style="border:0"></iframe>'
