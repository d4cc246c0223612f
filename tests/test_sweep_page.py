"""The page on sweep files: complete, its bounds are those of the code, and its examples are read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from docs.site import sweep_files
from pipeline.documents.validation import Section, descriptions
from pipeline.sweep.axes import derived, kinds
from pipeline.sweep.doors import read_sweeps
from pipeline.sweep.sweep_file import SweepFile
from pipeline.sweep.trajectories.expansions import EXPANSIONS
from robots.expressions import expression, parser
from robots.friction.laws import LAWS
from robots.trajectories.kinds import JOINT_MOTIONS, MOTIONS, TURNS

ROOT = Path(__file__).parents[1]
REST = "trajectories: {circle: {kind: circle, radius: 0.05}}\ntime: {stop: 1.0, step: 0.1}\nmetrics: [peak_force]\n"


PAGE = (ROOT / "docs" / "sweep-files.md").read_text("utf-8")


def models_of(annotation: object) -> Iterator[type[Section]]:
    """Yield the models in an annotation, and those in the annotations of their keys."""
    if isinstance(annotation, type) and issubclass(annotation, Section):
        yield annotation
        for info in annotation.model_fields.values():
            yield from models_of(info.annotation)
    for part in get_args(annotation):
        yield from models_of(part)


def test_every_section_and_key_has_a_row_with_a_meaning() -> None:
    models = {*models_of(SweepFile)}
    assert {model for model, _ in sweep_files.SECTIONS} == models
    for model in models:
        assert descriptions(model).keys() == model.model_fields.keys(), model.__name__


def test_laws_and_kinds_are_in_the_tables_and_in_the_guide() -> None:
    guide = (ROOT / "docs" / "guide" / "trajectories.md").read_text("utf-8")
    for kind in (*MOTIONS, *JOINT_MOTIONS, *EXPANSIONS):
        assert f"`{kind}`" in guide
    tables = "\n".join((*sweep_files.laws(), *sweep_files.motions()))
    for name in (*LAWS, *MOTIONS, *TURNS, *JOINT_MOTIONS):
        assert f"| `{name}` |" in tables


def test_the_bounds_that_the_page_tells_are_those_of_the_code() -> None:
    for text in (
        f"A sample has at most {kinds.MAX_DRAWN:,} numbers",
        f"at most {derived.MAX_SCANNED:,} sets before the conditions",
        f"Powers are whole, up to {parser.MAX_POWER}.",
        f"an expression has at most {expression.MAX_LENGTH} characters",
    ):
        assert text in " ".join(PAGE.split())


def test_the_examples_of_the_page_are_read(tmp_path: Path) -> None:
    design, limits, motors, shaped, gears, motions, mounting, study, simulation, subsets, robots = re.findall(
        r"```yaml\n(.*?)```", PAGE, re.DOTALL
    )
    path = tmp_path / "s.yaml"
    path.write_text(f"limbsweep: 1\nrobot: delta_3rr2rrr\n{design}{limits}{subsets}{REST}")
    whole, quick, short = (read_sweeps(path, subset)[0].design.size for subset in (None, "quick", "short"))
    assert (quick, 0 < short < whole, whole > quick) == (100, True, True)
    path.write_text(f"limbsweep: 1\n{robots}{REST}")
    assert [sweep.design.size for sweep in read_sweeps(path)] == [2, 1]
    metrics = "[electrical_energy, peak_force, rms_force, condition]"
    payload = "design: {grid: {payload_mass: [0, 6]}}\n"
    rest = re.sub(r"(?m)^(outputs|metrics):.*\n", "", REST) + f"metrics: {metrics}\n"
    path.write_text(f"limbsweep: 1\nrobot: delta_rl5_1450_motors\n{payload}{study}{rest}")
    assert read_sweeps(path)[0].question.cases == ("payload_mass",)
    rest = REST.replace("step: 0.1", "step: 0.01").replace("circle: {kind", "way: {kind")
    path.write_text(f"limbsweep: 1\nrobot: delta_3rr2rrr\n{simulation}{rest}")
    assert [(sweep.sizes["gains"], sweep.sizes["state"]) for sweep in read_sweeps(path)] == [(2, 2)]
    rest = re.sub(r"(?ms)^trajectories:.*?(?=^\w)", "", REST)
    path.write_text(f"limbsweep: 1\nrobot: delta_3rr2rrr\n{motions}{mounting}{rest}")
    (swept,) = read_sweeps(path)
    assert (swept.sizes["trajectory"], swept.sizes["design"]) == (18 + 4, 3)
    columns = "motor,torque_constant,resistance,gearbox_inertia,peak_torque [N m]\n"
    (tmp_path / "motors.csv").write_text(columns + "small,0.03,0.4,2e-6,0.4\nlarge,0.05,0.3,4e-6,0.9\n")
    path.write_text(
        f"limbsweep: 1\nrobot: delta_rl5_1450_motors\n{motors}{re.sub('(?m)^(outputs|metrics):.*', '', REST)}"
    )
    assert read_sweeps(path)[0].design.size == 2
    (tmp_path / "gears.csv").write_text("gear,gear_stiffness,gear_torque\nsmall,8e3,2\nlarge,2e4,5\n")
    path.write_text(f"limbsweep: 1\nrobot: delta_rl5_1450_motors\n{gears}{REST}")
    assert read_sweeps(path)[0].design.size == 2
    path.write_text(f"limbsweep: 1\nrobot: delta_3rr2rrr\n{shaped}{REST}")
    assert read_sweeps(path)[0].design.size == 4
