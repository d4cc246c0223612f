"""The page of the examples lists what there is, and every example says what it is for."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs.site import examples, gallery
from tests.pages import ROOT

THUMBNAILS = ROOT / "docs" / "pictures" / "gallery"


def test_every_file_is_listed() -> None:
    data = {"pick_and_place.csv", "pick_and_place_motors.csv", "simulations/irb6_currents.csv", "waypoints.csv"}
    data |= {"studies/five_bar_motors.csv"}
    files = {path.relative_to(examples.EXAMPLES).as_posix() for path in examples.EXAMPLES.rglob("*.*")}
    text = "\n".join(examples.sections())
    assert {name for name in files if "__pycache__" not in name and f"[{name}](" not in text} == data


def test_a_file_that_says_nothing_is_refused(tmp_path: Path) -> None:
    (tmp_path / "silent.yaml").write_text("limbsweep: 1\n", "utf-8")
    with pytest.raises(ValueError, match=r"silent\.yaml: got '' at its top; expected a sentence"):
        examples.first_sentence(tmp_path / "silent.yaml")


def test_the_gallery_shows_every_sweep_and_script() -> None:
    paths = [*gallery.sweeps(), *(gallery.EXAMPLES / script for script in gallery.DRAWN)]
    assert {path.name for path in THUMBNAILS.iterdir()} == {gallery.name(path) for path in paths}, "make pictures"
    assert {path.name for path in gallery.EXAMPLES.glob("*.py")} == set(gallery.DRAWN)
    text = "\n".join(gallery.tables())
    assert [path for path in paths if f"](pictures/gallery/{gallery.name(path)})" not in text] == []
