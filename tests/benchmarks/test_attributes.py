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


def test_each_attribute_of_the_schema_has_a_verdict() -> None:
    if mujoco.__version__ != RECORDED["mujoco"]:
        pytest.skip(f"the record is of MuJoCo {RECORDED['mujoco']}")
    rows = RECORDED["elements"]
    for element, names in attributes.schema().items():
        assert {name for verdict in rows[element].values() for name in verdict} == {*names}, element
    not_tried = {(element, name) for element, row in rows.items() for name in row.get(record.NOT_TRIED, ())}
    assert not_tried == record.REASONS.keys()
    assert {verdict for row in rows.values() for verdict in row} <= {*record.VERDICTS, record.NOT_TRIED}


@pytest.mark.parametrize("element", ["mujoco", "body/frame", "body/inertial", "tendon/fixed", "option/flag"])
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


def test_a_verdict_is_of_a_model_where_the_attribute_matters() -> None:
    """Flags of effects that a model does not have, and springs without stiffness, change nothing there."""
    rows = RECORDED["elements"]
    assert {"equality", "damper", "frictionloss", "limit", "constraint"} <= {*rows["option/flag"]["read"]}
    assert "spring" in rows["option/flag"]["refused"]
    assert {"springref", "actuatorgravcomp"} <= {*rows["body/joint"]["refused"]}
    assert "springlength" in rows["tendon/fixed"]["refused"]
    assert "wind" in rows["mujoco/option"]["refused"]
    chosen = {"angle", "eulerseq", "balanceinertia", "inertiafromgeom", "inertiagrouprange", "meshdir", "alignfree"}
    assert chosen <= {*rows["mujoco/compiler"]["read"]}


def test_the_page_has_each_attribute_in_the_columns_of_its_verdicts() -> None:
    matter, idle, left = (
        [*lines()][2:] for lines in (robot_files.models, robot_files.idle_in_models, robot_files.not_tried)
    )
    named = [name for row in matter for name in row.split(" | ")[0].removeprefix("| ").split(", ")]
    rows = RECORDED["elements"]
    assert sorted(named) == sorted(f"`{name}`" for name, row in rows.items() if {*row} & {*record.VERDICTS[:4]})
    joint = next(row for row in matter if "`body/joint`" in row).split(" | ")
    assert "`@armature`" in joint[1]
    assert "`@stiffness`" in joint[3]
    everywhere, *others = idle
    assert "`@rgba`" in everywhere
    assert "`@user`" in everywhere
    for element, row in rows.items():
        own = next((line for line in others if f"`{element}`" in line), "")
        for name in row.get("idle", ()):
            assert f"`@{name}`" in everywhere or f"`@{name}`" in own, (element, name)
    assert len(left) == len(record.REASONS)
