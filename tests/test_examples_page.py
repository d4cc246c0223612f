"""The page of the examples lists what there is, and every example says what it is for."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs import make_examples, make_gallery


def test_the_page_is_up_to_date() -> None:
    assert make_examples.PAGE.read_text("utf-8") == make_examples.page(), "run docs/make_examples.py"


def test_every_file_is_listed() -> None:
    data = {"pick_and_place.csv", "pick_and_place_motors.csv", "simulations/irb6_currents.csv", "waypoints.csv"}
    files = {path.relative_to(make_examples.EXAMPLES).as_posix() for path in make_examples.EXAMPLES.rglob("*.*")}
    text = make_examples.page()
    assert {name for name in files if "__pycache__" not in name and f"[{name}](" not in text} == data


def test_a_file_that_says_nothing_is_refused(tmp_path: Path) -> None:
    (tmp_path / "silent.yaml").write_text("limbsweep: 1\n", "utf-8")
    with pytest.raises(ValueError, match=r"silent\.yaml: got '' at its top; expected a sentence"):
        make_examples.said(tmp_path / "silent.yaml")


def test_the_gallery_shows_every_sweep_and_script() -> None:
    assert make_gallery.PAGE.read_text("utf-8") == make_gallery.page(), "run docs/make_gallery.py"
    paths = [*make_gallery.sweeps(), *(make_gallery.EXAMPLES / script for script in make_gallery.DRAWN)]
    assert {path.name for path in make_gallery.PICTURES.iterdir()} == {make_gallery.name(path) for path in paths}
    assert {path.name for path in make_gallery.EXAMPLES.glob("*.py")} == set(make_gallery.DRAWN)
