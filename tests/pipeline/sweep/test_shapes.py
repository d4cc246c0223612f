"""The section shapes: masses, stiffness and capsules of links from one diameter."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import limbsweep as ls
from pipeline.errors import InputError
from pipeline.execution import work
from pipeline.execution.blocks import block_of
from pipeline.plan.plan import plan
from robots.requested import QuantityNames
from tasks.blocks.gradients import metric_rates

TEXT = """
limbsweep: 1
robot: five_bar
variables: {d: {default: 0.03, unit: m}}
design: {list: {d: [0.03, 0.04], proximal_length: [0.5, 0.56]}}
shapes:
  proximal: {tube: [d, 0.8 * d], material: aluminium}
  distal: {tube: [0.02], material: steel, joint_mass: 0.1}
criteria: {stiffness: {actuators: {all: 1.0e+4}, shapes: true}, capsules: {shapes: true, base: [
  {start: [0, 0.1, 0.5], end: [0, 0.2, 0.5], radius: 0.01}]}}
trajectories: {c: {kind: circle, radius: 0.05, normal: [0, 1, 0]}}
time: {stop: 1, samples: 5}
metrics: [peak_force, least_stiffness, clearance]
"""


def links(sweep: ls.Sweep, design: int) -> dict[str, float]:
    values = {name: float(x[0]) for name, x in sweep.designs(design, design + 1).items()}
    limb = sweep.family.assemble(values).limbs[0]
    return {link.body: float(link.inertia.mass) for link in limb.links}


def test_longer_and_thicker_arms_are_heavier() -> None:
    sweep = ls.Sweep.from_text(TEXT)
    for design, (d, length) in enumerate([(0.03, 0.5), (0.04, 0.56)]):
        masses = links(sweep, design)
        assert masses["proximal"] == pytest.approx(2700.0 * math.pi / 4.0 * d * d * (1 - 0.64) * length, rel=1e-13)
        assert masses["distal"] == pytest.approx(7850.0 * math.pi / 4.0 * 4e-4 * 0.4374 + 0.2, rel=1e-3)


def test_shapes_are_the_beams_and_capsules_that_criteria_would_say() -> None:
    said = TEXT.replace(
        "1.0e+4}, shapes: true}",
        """1.0e+4}, links: {
      proximal: {tube: [d, 0.8 * d], young: 70.0e+9}, distal: {tube: [0.02], young: 210.0e+9}}}""",
    )
    said = said.replace("capsules: {shapes: true,", "capsules: {links: {proximal: d / 2, distal: 0.01},")
    found, other = (ls.compute(ls.Sweep.from_text(text)) for text in (TEXT, said))
    for name in ("least_stiffness", "clearance"):
        np.testing.assert_allclose(found[name], other[name], rtol=1e-13)
        assert float(found[name][0].squeeze()) != float(found[name][1].squeeze())


def test_one_diameter_moves_mass_stiffness_and_clearance() -> None:
    block = replace(
        block_of(plan(ls.Sweep.from_text(TEXT)), 0),
        quantities=QuantityNames((), ("peak_force", "least_stiffness", "clearance")),
    )
    column = [parameter.name for parameter in block.family.parameters].index("d")
    row = np.zeros((1, block.designs.parameters.shape[1]))
    row[0, column] = 1.0
    ends = [
        work.whole(replace(block, designs=block.designs.moved(block.designs.parameters + step * row)))
        for step in (1e-6, -1e-6)
    ]
    for name, found in metric_rates(block, row).items():
        slope = (ends[0][name] - ends[1][name]) / 2e-6
        np.testing.assert_allclose(found.rates[0, ..., 0], slope, rtol=1e-6)
        assert (np.abs(slope) > 0.0).all()


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("material: aluminium", "young: 1.0", "no density; expected density, or material: aluminium or steel"),
        ("tube: [d, 0.8 * d]", "tube: [d, 0.035]", "the larger one first"),
        ("tube: [d, 0.8 * d]", "box: [d, d]", "a box without across"),
        ("tube: [d, 0.8 * d]", "shear: 0.5", "neither tube nor box"),
        ("proximal: {tube", "proximate: {tube", "shapes.proximate: got 'proximate'.* No link is called 'proximate'"),
        ("variables: {d", "parameters: {proximal_mass: 1.0}\nvariables: {d", "proximal_mass, a number of links whose"),
        ("material: aluminium", "density: 2700", "shapes.proximal: .*young: absent"),
    ],
)
def test_wrong_shapes_are_refused(old: str, new: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        ls.Sweep.from_text(TEXT.replace(old, new))


def test_a_wrong_shape_is_told_once() -> None:
    """Capsules that lack because of it are not told beside it, and deviations of nothing stop no other check."""
    wrong = TEXT.replace("proximal: {tube", "proximate: {tube") + "tolerances: {normal: {d: 1}, seed: 1}\n"
    with pytest.raises(InputError) as caught:
        ls.Sweep.from_text(wrong)
    keys = [problem.key for problem in caught.value.problems]
    assert keys.count("shapes.proximate") == keys.count("tolerances.normal") == 1
    assert not any(key.startswith("criteria") for key in keys)


def test_links_that_grow_without_getting_heavier_are_told() -> None:
    before, after = TEXT.index("shapes:\n"), TEXT.index("trajectories:")
    plain = TEXT[:before] + TEXT[after:].replace(", least_stiffness, clearance", "")
    (warning,) = ls.Sweep.from_text(plain.replace("[0.5, 0.56]", "[0.4, 0.56]")).warnings
    assert "links whose length changes, and whose mass does not: proximal (with proximal_length)" in str(warning)
    shaped = [plain, TEXT, plain.replace("[0.5, 0.56]", "[0.4, 0.56]").replace("[peak_force]", "[condition]")]
    derived = plain.replace("[0.5, 0.56]}}", "[0.4, 0.56]}, derive: {proximal_mass: 3 * proximal_length}}")
    assert not any(ls.Sweep.from_text(text).warnings for text in (*shaped, derived))


def test_criteria_of_shapes_need_shapes() -> None:
    before, after = TEXT.index("shapes:\n"), TEXT.index("criteria:")
    with pytest.raises(InputError, match=r"criteria.stiffness.shapes: .*Add a section shapes"):
        ls.Sweep.from_text(TEXT[:before] + TEXT[after:])


def test_designs_that_cannot_stand_at_the_reference_pose_are_read() -> None:
    """Their links have no places at it: nothing is told of their lengths."""
    before, after = TEXT.index("design:"), TEXT.index("trajectories:")
    grid = "design: {grid: {crank_length: [0.12, 0.18], rod_length: [1.0, 0.4]}}\n"
    hexa = (TEXT[:before] + grid + TEXT[after:]).replace("five_bar", "hexa").replace(", least_stiffness, clearance", "")
    assert ls.Sweep.from_text(hexa).sizes["design"] == 4
