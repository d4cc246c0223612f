"""Sections of the sweep file: a table in order of dependence, contents that describe themselves, a record apart."""

from __future__ import annotations

import inspect
import subprocess
import sys
from dataclasses import fields

import pytest

from pipeline import Sweep
from pipeline.errors import InputError
from pipeline.sweep.content import Content, SectionValue
from pipeline.sweep.doors import Sections, sweep
from pipeline.sweep.sweep_file import SECTIONS, SweepFile
from tasks.blocks.block import Block

TEXT = """\
limbsweep: 1
robot: five_bar
trajectories: {circle: {kind: circle, radius: 0.05, normal: [0, 1, 0], period: 0.7}}
time: {stop: 0.9, step: 0.01}
metrics: [peak_force]
"""
CORE = {"limbsweep", "title", "robot", "robots", "branch", "parameters", "design", "trajectories", "time", "gravity"}
CORE |= {"precision", "outputs", "metrics", "seed", "subsets", "subset"}


def test_a_section_stands_after_those_that_it_needs() -> None:
    for place, section in enumerate(SECTIONS):
        assert {*section.after} <= {before.key for before in SECTIONS[:place]}, section


def test_keys_are_those_of_the_file_and_stand_once() -> None:
    keys = [section.key for section in SECTIONS]
    assert len({*keys}) == len(keys)
    assert {*keys} - {"selection", "derivatives"} == {*SweepFile.model_fields} - CORE


def test_a_sweep_has_every_section_and_defaults_add_nothing_to_its_fingerprint() -> None:
    read = Sweep.from_text(TEXT)
    assert {*read.sections} == {section.key for section in SECTIONS}
    told = {key for content in read.sections.values() for key in content.describe()}
    assert told == {"friction"}


@pytest.mark.parametrize(
    ("key", "section"),
    [
        ("limits", "limits: {actuators: {all: {force: 10}}}"),
        ("split", "split: {test: 0.5}"),
        ("base", "base: {kind: line_sine, amplitude: [0, 0, 0.5], period: 8}"),
        ("selection", "outputs: [joint_reaction: 'left.*']"),
        ("measurement", "seed: 1\noutputs: [actuator_position, measured_position]\nmeasurement: {}"),
        ("simulation", "simulation: {controller: {kind: pd, parameters: {kp: 10, kd: 1}}}"),
    ],
)
def test_a_section_that_is_written_is_part_of_the_fingerprint(key: str, section: str) -> None:
    plain, written = Sweep.from_text(TEXT), Sweep.from_text(f"{TEXT}{section}\n")
    assert key in written.canonical
    assert written.fingerprint != plain.fingerprint
    assert {line.partition(":")[0].partition(".")[0] for line in written.difference(plain)} <= {key, "outputs"}


def test_other_values_of_sections_leave_the_sweep_as_it_was() -> None:
    read = Sweep.from_text(f"{TEXT}split: {{test: 0.5}}\n")
    changed = read.with_sections(split=None)
    assert read.split is not None
    assert changed.split is None
    assert changed.fingerprint == Sweep.from_text(TEXT).fingerprint


def test_typed_attributes_are_sections() -> None:
    values = {name: value for name, value in vars(Sweep).items() if isinstance(value, SectionValue)}
    assert {value.key for value in values.values()} <= {section.key for section in SECTIONS}
    content = next(iter(Sweep.from_text(TEXT).sections.values()))
    assert isinstance(content, Content)


def test_the_record_imports_no_reader() -> None:
    """Check that the record alone loads no reader of a section."""
    readers = sorted({section.__module__ for section in SECTIONS} | {"pipeline.sweep.reader", "pipeline.sweep.doors"})
    code = f"import sys, pipeline.sweep.model; print([name for name in {readers} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_every_section_of_a_file_is_a_keyword_and_the_signature_is_short() -> None:
    signature = inspect.signature(sweep)
    assert len(signature.parameters) <= 8
    keywords = {*signature.parameters, *Sections.__annotations__} - {"sections", "folder"}
    assert keywords == {*SweepFile.model_fields} - {"limbsweep", "robots"}


def test_an_unknown_keyword_is_told_with_its_neighbour() -> None:
    with pytest.raises(InputError, match=r"an unknown key; expected a known key.* 'metrics'"):
        sweep("five_bar", time=(1.0, 0.1), trajectories={"c": {"kind": "circle", "normal": [0, 1, 0]}}, metrcs="energy")  # type: ignore[call-arg]


def test_sections_fill_fields_of_a_block_each_once() -> None:
    friction = "friction: {law: coulomb_viscous, parameters: {viscous: 0.1}, grid: {coulomb: [1, 2, 3]}}\n"
    limits = "limits: {actuators: {all: {force: 10}}}\n"
    read = Sweep.from_text(TEXT + friction + limits)
    inputs = [content.block_inputs({"friction": slice(1, 3)}) for content in read.sections.values()]
    keys = [key for each in inputs for key in each]
    assert len({*keys}) == len(keys)
    assert {*keys} <= {field.name for field in fields(Block)}
    filled = {key: value for each in inputs for key, value in each.items()}
    assert filled["limits"] == read.limits
    table = dict(zip(read.friction.parameters, filled["friction"].T.tolist(), strict=True))
    assert (table["coulomb"], table["viscous"]) == ([2.0, 3.0], [0.1, 0.1])
    assert Sweep.from_text(TEXT).friction.table(0, 1).shape == (1, 0)
