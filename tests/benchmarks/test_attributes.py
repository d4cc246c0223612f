"""Attributes of MuJoCo's schema: the record is complete, and what it says is found again."""

from __future__ import annotations

import pytest

from benchmarks import COMPILE
from benchmarks.imports import record
from docs.site import robot_files

mujoco = pytest.importorskip("mujoco")
pytest.importorskip("pinocchio")

from benchmarks.imports import attributes  # noqa: E402  # it needs both

RECORDED = record.read()
LEFT: dict[str, tuple[str, ...]] = {
    "asset/mesh": ("builtin",),
    "asset/hfield": ("file",),
    "asset/skin": ("file",),
    "asset/material": ("texture",),
    "body/geom": ("hfield",),
    "body/site": ("fromto", "mesh"),
    "body/camera": ("focal", "focalpixel", "output", "principal", "principalpixel", "projection"),
    "body/light": ("type",),
    "body/plugin": ("instance", "plugin"),
    "flexcomp/plugin": ("instance", "plugin"),
    "deformable/skin": ("file",),
    "actuator/general": ("cranklength", "cranksite", "slidersite"),
    "actuator/motor": ("cranklength", "cranksite", "refsite", "slidersite"),
    "actuator/position": ("class", "cranklength", "cranksite", "refsite", "slidersite"),
    "actuator/velocity": ("class", "cranklength", "cranksite", "refsite", "slidersite"),
    "actuator/intvelocity": ("class", "cranklength", "cranksite", "refsite", "slidersite"),
    "actuator/orientation": ("refsite", "site"),
    "actuator/pid": ("class", "cranklength", "cranksite", "input", "refsite", "slidersite"),
    "actuator/damper": ("class", "cranklength", "cranksite", "refsite", "slidersite"),
    "actuator/cylinder": ("class", "cranklength", "cranksite", "refsite", "slidersite"),
    "actuator/muscle": ("cranklength", "cranksite", "slidersite"),
    "actuator/dcmotor": ("class", "cranklength", "cranksite", "refsite", "slidersite"),
    "keyframe/key": ("mpos", "mquat", "plastic"),
}
"""Attributes of which MuJoCo compiled no value in these models; beside those of sensors, which change nothing."""


def test_each_attribute_of_the_schema_has_a_verdict() -> None:
    if mujoco.__version__ != RECORDED["mujoco"]:
        pytest.skip(f"the record is of MuJoCo {RECORDED['mujoco']}")
    rows = RECORDED["elements"]
    for element, names in attributes.schema().items():
        assert {name for verdict in rows[element].values() for name in verdict} == {*names}, element
        not_tried = tuple(rows[element].get(record.NOT_TRIED, ()))
        assert element.startswith("sensor/") or not_tried == LEFT.get(element, ()), element
    assert {verdict for row in rows.values() for verdict in row} <= {*record.VERDICTS, record.NOT_TRIED}


@pytest.mark.parametrize("element", ["body/frame", "body/inertial", "tendon/fixed"])
def test_a_row_of_the_record_is_found_again(element: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(COMPILE, "")
    names = attributes.schema()[element]
    found = dict[str, set[str]]()
    for trial in attributes.trials(element, names):
        found.setdefault(trial.attribute, set()).add(trial.verdict)
    assert record.row(names, found) == RECORDED["elements"][element]


def test_verdicts_of_values_make_a_row() -> None:
    """A refused value counts where no other is read; what changes nothing has no other verdict."""
    found = {"a": {"read", "invalid"}, "b": {"refused", "idle"}, "c": {"idle"}, "d": {"invalid", "idle"}}
    assert record.row(found | {"e": set()}, found) == {
        "read": ["a"], "refused": ["b"], "idle": ["c"], "invalid": ["d"], record.NOT_TRIED: ["e"]
    }  # fmt: skip


def test_the_page_has_each_element_once() -> None:
    rows = [*robot_files.models()][2:]
    named = [name for row in rows for name in row.split(" | ")[0].removeprefix("| ").split(", ")]
    assert sorted(named) == sorted(f"`{element}`" for element in RECORDED["elements"])
    joint = next(row for row in rows if "`body/joint`" in row).split(" | ")
    assert "`@armature`" in joint[1]
    assert "`@stiffness`" in joint[3]
