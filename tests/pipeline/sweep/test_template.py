from __future__ import annotations

import pytest

from applications.commands.template import sweep_text
from pipeline.sweep.model import Sweep
from robots import catalog
from robots.formats.description import describe
from robots.formats.writing import flow
from robots.friction.laws import CURVES
from robots.trajectories.kinds import MOTIONS


@pytest.mark.parametrize("name", sorted(catalog.FAMILIES))
def test_the_template_is_a_valid_sweep(name: str) -> None:
    sweep = Sweep.from_text(sweep_text(catalog.family(name)), name="sweep.yaml")
    assert sweep.robot == name
    assert (sweep.design.size, sweep.times.size, len(sweep.trajectories)) == (5, 1001, 1)


def test_the_design_axis_is_around_the_default() -> None:
    family = catalog.family("delta_3rr2rrr")
    values = Sweep.from_text(sweep_text(family), name="sweep.yaml").design.values(0, 5)
    (name, swept), *_ = values.items()
    assert name == family.parameters[0].name
    assert (swept[0], swept[2], swept[-1]) == pytest.approx((0.135, 0.15, 0.165))


def test_another_parameter_or_one_design_can_be_chosen() -> None:
    family = catalog.family("delta_3rr2rrr")
    other = Sweep.from_text(sweep_text(family, first="rod_length"))
    assert (*other.design.names, other.design.size) == ("rod_length", 5)
    one = Sweep.from_text(sweep_text(family, spread=0.0))
    assert (one.design.size, one.designs(0, 1)["base_radius"].tolist()) == (1, [0.15])


def test_the_comments_name_all_choices() -> None:
    family = catalog.family("delta_rl5_1450")
    text = sweep_text(family)
    comments = "".join(line for line in text.splitlines(keepends=True) if line.startswith("#   "))
    for name in (*(each.name for each in family.parameters), *CURVES, *MOTIONS):
        assert name in comments
    assert max(map(len, text.splitlines())) <= 120


@pytest.mark.parametrize("name", ["delta_3rr2rrr", "gough_stewart"])
def test_what_the_comments_of_the_axes_show_can_be_read(name: str) -> None:
    text = sweep_text(catalog.family(name))
    for key in ("sample", "where"):
        line = next(line for line in text.splitlines() if line.startswith(f"#   {key}:"))
        text = text.replace("design:\n", f"design:\n  {line[4:]}\n", 1)
    text = text.replace("# subsets:", "subsets:") + "subset: first\n"
    assert Sweep.from_text(text).sizes["design"] == 2


def test_a_robot_without_parameters_has_one_design() -> None:
    family = describe(catalog.build("planar_3r")).family
    assert family.parameters == ()
    text = sweep_text(family, "planar_3r")
    assert "no parameters" in text
    assert (
        Sweep.from_text(
            text.replace("robot: planar_3r", f"robot: {flow(describe(catalog.build('planar_3r')))}")
        ).design.size
        == 1
    )
