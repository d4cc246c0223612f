"""Sections of the page of robots, from the catalogue: docstrings, graphs, parameters, and how the limbs are solved."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from pipeline.sweep.model import Sweep
from robots import catalog
from robots.model import PLATFORM, Closure, Family, Limb, Mechanism, Robot
from robots.parameters import Parameter
from robots.types import BASE, TWIST
from tasks.checks import newton_euler_system as system_solution
from tasks.checks.newton_euler_system import assemble
from tasks.dynamics.records import Moving
from tasks.mechanics.cut_joints import row_count
from tasks.mechanics.families import structure_of
from tasks.mechanics.limb_choice import LimbChoice

ROOT = Path(__file__).parents[2]

AXES = {"v": "translation along", "w": "rotation about"}
LETTERS = {"revolute": "R", "prismatic": "P", "universal": "U", "spherical": "S", "cylindrical": "C", "fixed": "W"}


def sections() -> Iterator[str]:
    """Yield the list of the robots, then a section for each."""
    families = list(catalog.FAMILIES.values())
    yield from (f"- [{each.name}](#{each.name}): {each.title}" for each in families)
    yield ""
    for each in families:
        yield from section(each)


def section(family: Family) -> Iterator[str]:
    """The lines about one robot."""
    robot = Robot.of(family, {})
    mechanism = robot.mechanism
    yield from (f"## {family.name}", "", f"{family.title}. Source: {family.source}.", "")
    yield from (f"![{family.name} at its reference pose](pictures/{family.name}.png)", "")
    yield from (*description(family), "", freedoms(mechanism), "")
    yield f"Example: [{example(family).name}](../examples/{example(family).name})."
    for limb, choice in zip(mechanism.limbs, structure_of(family).choices, strict=True):
        yield from ("", f"### Limb {limb.name} of {family.name}", "", *graph(limb), "", *solution(limb, choice))
    yield f"- {reactions(robot)}"
    yield from ("", f"### Parameters of {family.name}", "", *table(family.parameters), "")


def description(family: Family) -> Iterator[str]:
    """Return the text of the module of a family; a reference to it where the page has it already.

    A mechanism of the literature says it where it is assembled, as its module has several.
    """
    if family.name in catalog.LITERATURE:
        (own,) = (each for module in _modules() for each in module.FAMILIES if each.name == family.name)
        yield inspect.getdoc(own.assemble) or ""
        return
    # by name, as the catalogue adds payloads to what a module has
    module = next(each for each in _modules() if family.name in (f.name for f in each.FAMILIES))
    first = module.FAMILIES[0]
    if family.name == first.name:
        yield inspect.getdoc(module) or ""
    else:
        yield f"The text at [{first.name}](#{first.name}) holds for this robot too."


def _modules() -> list[Any]:
    """The modules of the catalogue that have robots."""
    return [each for each in vars(catalog).values() if inspect.ismodule(each) and hasattr(each, "FAMILIES")]


def freedoms(mechanism: Mechanism) -> str:
    """Freedoms, actuators, limbs and joints in words."""
    free = mechanism.freedoms
    if mechanism.is_chain:
        (limb,) = mechanism.limbs
        return (
            f"Independent joints: {len(free)} ({', '.join(f'`{name}`' for name in free)}). Actuators: "
            f"{'the same' if free == mechanism.actuators else ', '.join(f'`{name}`' for name in mechanism.actuators)}. "
            f"{len(limb.links)} links, {len(limb.joints)} joints, {len(limb.loops) or 'no'} loops."
        )
    whole = set(TWIST) <= set(free)
    named = "all motions" if whole else ", ".join(f"{AXES[name[0]]} {name[1]}" for name in free)
    joints = sum(len(mechanism.limbs[each.limb].joints) for each in mechanism.instances)
    return (
        f"Freedoms of the platform: {len(free)} ({named}). Actuators: {len(mechanism.actuators)} "
        f"({', '.join(f'`{name}`' for name in mechanism.actuators)}). "
        f"{len(mechanism.instances)} limbs with {joints} joints."
    )


@cache
def example_robots() -> list[tuple[Path, str]]:
    """The sweeps among the examples, each with the name of its robot."""
    return [(path, Sweep.from_yaml(path).robot) for path in sorted((ROOT / "examples").glob("*.yaml"))]


def example(family: Family) -> Path:
    """The first sweep among the examples that is about a robot."""
    return next(path for path, robot in example_robots() if robot == family.name)


def graph(limb: Limb) -> Iterator[str]:
    """The bodies of a limb and the joints between them, for Mermaid."""
    bodies = {BASE: "base", PLATFORM: "platform"} | {i: link.body for i, link in enumerate(limb.links)}
    yield from ("```mermaid", "flowchart LR", "  base([base])", *(["  platform([platform])"] if limb.tips else []))
    for link in limb.links:
        arrow = "==>" if link.joint in limb.actuated else "-->"
        yield f'  {bodies[link.parent]} {arrow}|"{link.joint} {LETTERS[link.kind]}"| {link.body}'
    for closure in (*limb.loops, *limb.tips):
        yield f'  {bodies[closure.a]} -.->|"{closure.joint} {LETTERS[closure.kind]}"| {bodies[closure.b]}'
    yield "```"


def solution(limb: Limb, choice: LimbChoice) -> Iterator[str]:
    """Describe the way in which a limb is solved, which is decided when the model is built."""
    determined = "the platform's pose determines them" if limb.tips else "their motion is given"
    yield f"- Independent joints: {_joints(limb, choice.independent)}; {determined}."
    for closure, loop in zip(limb.loops, choice.loops, strict=True):
        yield f"- {_kept(closure, loop.rows, 'closes a loop')}."
    for cluster in choice.clusters:
        loops = " and ".join(f"`{limb.loops[k].joint}`" for k in cluster.loops)
        yield f"- Joints {_joints(limb, cluster.dependent)} follow from the closing of {loops}."
    for closure, rows in zip(limb.tips, choice.tip_rows, strict=True):
        yield f"- {_kept(closure, rows, 'holds the platform')}."


def _joints(limb: Limb, indices: Iterable[int]) -> str:
    return ", ".join(f"`{limb.links[i].joint}`" for i in indices)


def _kept(closure: Closure, rows: Sequence[int], does: str) -> str:
    count = row_count(closure.kind)
    rest = count - len(rows)
    dropped = f", {rest} dropped as redundant and checked at the end" if rest else ""
    return f"Joint `{closure.joint}` {does}: {len(rows)} of its {count} conditions are kept{dropped}"


def reactions(robot: Robot) -> str:
    """Describe the joint reactions that statics leaves open, at a pose without symmetry near the reference pose."""
    system = assemble(robot, **_aside(robot))
    equations, unknowns = system.matrix.shape
    inner = system_solution.null_space(system.matrix).shape[1]
    size = f"Newton-Euler system: {equations} equations, {unknowns} unknowns"
    if not inner:
        return f"{size}; they determine the reactions of all joints."
    spare = len(robot.mechanism.actuators) - len(robot.mechanism.freedoms)
    shared = f", {spare} of them between the drives" if spare else ""
    return f"{size}; {inner} inner forces stay open{shared}, and are chosen for the least norm."


def _aside(robot: Robot) -> Moving:
    """A pose near the reference pose."""
    platform, freedoms = robot.mechanism.platform, robot.mechanism.freedoms
    if robot.mechanism.is_chain:
        return {"q": 0.1 + 0.01 * np.arange(len(freedoms))}
    home, free = np.array(platform.home.position), np.array([name in platform.mobility for name in TWIST[3:]])
    return {"position": home + free * (0.03, 0.02, 0.01) * (np.linalg.norm(home) or 0.3)}


def table(parameters: Sequence[Parameter]) -> Iterator[str]:
    """The parameters as a table, and the sources that it names by number."""
    sources = list(dict.fromkeys(each.source for each in parameters))
    yield "| parameter | default | unit | bounds | meaning | source |"
    yield "|---|---|---|---|---|---|"
    for each in parameters:
        cells = (f"`{each.name}`", f"{each.default:.6g}", each.unit, f"{each.lower:g} to {each.upper:g}")
        yield f"| {' | '.join((*cells, each.text, str(sources.index(each.source) + 1)))} |"
    yield ""
    yield from (f"{number}. {source}" for number, source in enumerate(sources, start=1))
