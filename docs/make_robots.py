"""Draw the picture of each robot of the catalogue for the documentation.

python docs/make_robots.py [NAME...]
"""

from __future__ import annotations

import sys
from io import BytesIO
from pathlib import Path

from PIL import Image

from applications.report.data import sketch
from robots import catalog
from robots.model import Robot

PICTURES = Path(__file__).parent / "pictures"
DPI, COLOURS = 110, 128


def draw(robot: Robot, path: Path) -> None:
    """Write a small picture: the colours of a drawing fit into a palette."""
    buffer = BytesIO()
    sketch.draw(robot).savefig(buffer, dpi=DPI, format="png")
    Image.open(buffer).convert("RGB").quantize(COLOURS).save(path, optimize=True)


def main(names: list[str]) -> None:
    """Draw the robots of these names, or all."""
    for name in names or catalog.FAMILIES:
        draw(catalog.build(name), PICTURES / f"{name}.png")


if __name__ == "__main__":
    main(sys.argv[1:])
