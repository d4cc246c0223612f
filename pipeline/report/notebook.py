"""What notebooks show of a robot: its picture at the reference pose, and its parameters."""

from __future__ import annotations

from base64 import b64encode
from io import BytesIO

from pipeline.documents.html import table
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
    return f'<div style="display:flex;gap:16px">{image}{table(title, rows, ("parameter", "value", "unit", ""))}</div>'
