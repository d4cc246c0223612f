"""Each attribute of MuJoCo's schema, set to values in models that have all elements: its effects there and here.

    python -m benchmarks.imports.attributes [--record] [SECTION/ELEMENT ...]

A model is changed in one attribute and compiled. Where the reader takes it without a warning, forces of its joints have
to be those of MuJoCo with springs, compensated gravity, fluids and tendons, and the friction, ranges and gravity that
MuJoCo has have to be those of the ratings. Differences are printed: such an attribute changes dynamics in silence. The
exit status is 1 then. `--record` writes the verdicts on all attributes to `benchmarks/records/mjcf.json`, of which the
tables of `docs/robot_formats.md` are made. Defaults count as values of the elements that use them.
"""

from __future__ import annotations

import argparse
import atexit
import os
import re
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import chdir
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch
from xml.etree import ElementTree

import mujoco
import numpy as np
import pinocchio as pin

from benchmarks import COMPILE
from benchmarks.imports.comparison import LARGEST_ERROR, errors_of_loops
from benchmarks.imports.mjcf_models import BESIDE, FILES, MODELS
from benchmarks.imports.mujoco import of_model
from benchmarks.imports.record import RECORD, VERDICTS, write
from benchmarks.imports.spanning import Spanning, following
from pipeline.errors import InputError
from pipeline.robot_files.closing import assembled
from pipeline.robot_files.packages import PackageFiles
from robots.formats import mjcf
from robots.formats.tree import Tree
from robots.formats.xml_tree import ImportedError, parse
from tasks.mechanics.topology import TopologyError

VALUES = (
    "0.3", "-0.4", "1", "2", "3", "0", "-1", "true", "false", "auto", "enable", "disable", "0.1 0.2", "-1 1", "0 0",
    "1 1", "0.2 1", "0.1 0.2 0.3", "-0.3 0.7 0.1", "0 0 1", "1 2 3", "0.5 0.5 0.5 0.5", "0.8 0.6 0 0",
    "0.1 0.2 0.3 0.4 0.5", "0.02 0.03 0.025 0.001 0.002 0.003", "1 0 0 0 0.6 0.8", "0.1 0.2 0.3 0.6 0.8 0 0",
    "1 0.5 0.2 0.1 0.05 0.3 0.2 1", "0 0 0 .2 0 0 0 .1 0 0 0 .1", "ja", "jb", "jc", "jd", "je", "a", "b", "c", "d",
    "sa", "sb", "sc", "ts", "tf", "ta", "tb", "ga", "gc", "m", "world", "hinge", "slide", "ball", "free", "box",
    "sphere", "capsule", "cylinder", "ellipsoid", "mesh", "degree", "XYZ", "zyx", "none", "integrator", "filter",
    "filterexact", "user", "affine", "fixed", "muscle", "implicit", "RK4", "elliptic", "dense", "convex", "exact",
    "shell", "inner", "jr", "fr", "r", "far", "other", "mat", "t", "i", "mesh.obj", "other.xml", "included.xml", "body",
    "site", "geom", "joint", "xyz", "mujoco.pid", "kp", "fc", "fl", "ft", "zoh", "dist", "pos", "CG", "local", "merge",
    "hemisphere", "longer.xml",
)  # fmt: skip
"""Values that are tried of each attribute: whatever MuJoCo compiles counts."""

KEYWORDS = (frozenset({"true", "false", "auto"}), frozenset({"enable", "disable"}))
"""Values of which an attribute that takes one takes no others."""

ENDLESS = ("asset/model", "file")
"""An attribute without which MuJoCo reads the folder as a file, and does not end."""

GRAVITY = (0.0, 0.0, -9.81)
STATES = 3
ENOUGH = 2
"""Values of an attribute that change numbers, after which others are left out."""

IDLE = 3
"""Values that change no number, after which others are left out."""

MOST = 3
"""Elements that have an attribute, each of which it is changed in."""

FURTHER = {
    "body/frame": "axisangle childclass euler name pos quat xyaxes zaxis",
    "body/replicate": "count euler offset sep",
    "body/include": "file",
}
"""Elements that MuJoCo resolves before its schema, with their attributes."""


@dataclass(frozen=True)
class Trial:
    """An attribute with a value in a model, and the outcome."""

    model: str
    element: str
    """The tags of the element and of the one around it."""
    attribute: str
    value: str
    verdict: str
    """One of VERDICTS, or the difference."""

    @property
    def is_silent(self) -> bool:
        """Return whether MuJoCo differs without a word."""
        return self.verdict not in VERDICTS


def schema() -> dict[str, tuple[str, ...]]:
    """Return the attributes of each element of MuJoCo's schema but defaults, by its tag and that of its parent."""
    rows, stack = dict[str, list[str]](), list[str]()
    for line in mujoco.mj_printSchema(False, False).splitlines():
        if head := re.match(r"( *)(\S+) \(.\) *(.*)$", line):
            stack[len(head[1]) // 3 :] = [head[2].removeprefix("(world)")]
            path, names = "/".join(stack[-2:]).replace("mujoco/body", "body/body"), head[3].split()
        else:
            names = line.split()
        if "default" not in stack:
            rows.setdefault(path, []).extend(names)
    return {path: tuple(names) for path, names in rows.items() if names} | {
        path: tuple(words.split()) for path, words in FURTHER.items()
    }


def places(outer: ElementTree.Element, name: str = "") -> Iterator[tuple[str, ElementTree.Element]]:
    """Yield the elements of a model, each with its tag and its parent's; the world counts as a body, frames do not."""
    name = name or outer.tag
    if outer.tag == "mujoco":
        yield name, outer
    for inner in outer:
        if inner.tag != "default":
            yield f"{name}/{inner.tag}", inner
            tag = "body" if inner.tag == "worldbody" else inner.tag
            yield from places(inner, name if inner.tag in ("frame", "replicate") else tag)


def trials(path: str, attributes: Iterable[str]) -> Iterator[Trial]:
    """Yield trials of each attribute of an element, in models that have it until it has an effect in one.

    An attribute is refused if every model that has its element is refused already without the change. An attribute
    without effect in all others is tried beside springs, fluids and compensated gravity: there it is refused if it
    changes forces of MuJoCo. Actuators are tried in all models.
    """
    having = [model for model in _models() if path in model.paths]
    whole = [model for model in having if model.verdict != "refused"]
    for attribute in attributes:
        found, values = {"idle"}, dict.fromkeys(VALUES)
        for model in [*whole, *(model for model in having if model.name == BESIDE)]:
            if found <= {"idle"} or path.startswith("actuator/"):
                tried = [*_trials_of(model, path, attribute, values)]
                yield from tried
                found |= {trial.verdict for trial in tried}
        if having and not whole:
            yield Trial(having[0].name, path, attribute, "", "refused")


@dataclass(frozen=True)
class Model:
    """A model as it is: its text, the verdict on it, its numbers, and forces of MuJoCo."""

    name: str
    text: str
    paths: frozenset[str]
    verdict: str
    numbers: bytes
    forces: np.ndarray


@cache
def _models() -> tuple[Model, ...]:
    result = list[Model]()
    for name, text in MODELS.items():
        compiled, paths = _compiled(text), frozenset(path for path, _ in places(ElementTree.fromstring(text)))
        numbers, forces = _numbers(compiled), _forces(compiled)
        result.append(Model(name, text, paths, _look(compiled, text, name), numbers, forces))
    return tuple(result)


@cache
def _folder() -> Path:
    """Return a folder with the files that the models name, which lasts as long as this process."""
    folder = Path(tempfile.mkdtemp(prefix="limbsweep-models-"))
    atexit.register(shutil.rmtree, folder)
    for name, data in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


def _compiled(text: str) -> Any:
    with chdir(_folder()):
        return mujoco.MjModel.from_xml_string(text)


def _trials_of(model: Model, path: str, attribute: str, values: dict[str, None]) -> Iterator[Trial]:
    """Take the attribute out of each element that has it, then change it: where it is, in the first element, in all.

    Values that compile are tried until enough of them change numbers of the model, or none does. Those that MuJoCo
    cannot read are taken out of `values`.
    """
    elements = [element for place, element in places(ElementTree.fromstring(model.text)) if place == path]
    stating = [k for k, element in enumerate(elements) if attribute in element.attrib]
    stated = [elements[k].get(attribute) for k in stating]
    seen, idle, taken, words = {model.numbers}, 0, set[str](), frozenset[str]()
    for value in (None, *dict.fromkeys([*stated, *values])):
        known = len(seen)
        if words and value not in (*words, *stated):
            continue
        for chosen in dict.fromkeys([*((k,) for k in stating[:MOST]), (0,), tuple(range(len(elements)))]):
            root = ElementTree.fromstring(model.text)
            places_of = [element for place, element in places(root) if place == path]
            for k in chosen:
                places_of[k].attrib.pop(attribute, None)
                places_of[k].attrib.update({} if value is None else {attribute: value})
            text = ElementTree.tostring(root, encoding="unicode")
            if value is None and (not {*chosen} & {*stating} or (path, attribute) == ENDLESS):
                continue
            try:
                verdict, numbers = _changed(model, text)
            except (ValueError, RuntimeError) as error:
                if value is None and path == "mujoco/compiler" and model.verdict == "idle":
                    yield Trial(model.name, path, attribute, "", "read")  # the model is nothing without this
                if "XML Error" in str(error) and not re.search("Schema|unknown", str(error)):
                    values.pop(value or "", None)  # no value of this attribute
                continue
            yield Trial(model.name, path, attribute, value or "", verdict)
            seen.add(numbers)
            taken |= {value} if value else set()
        words = next((kind for kind in KEYWORDS if taken and taken <= kind), words)
        idle += value in taken and len(seen) == known and value not in stated
        if len(seen) > ENOUGH + 1 or idle > IDLE:
            return


def _changed(model: Model, text: str) -> tuple[str, bytes]:
    """Return the verdict on a changed model and its numbers. Raises what MuJoCo does.

    In a model that is refused as it is, a change without effect on forces of MuJoCo has none.
    """
    compiled = _compiled(text)
    numbers = _numbers(compiled)
    if (model.name, numbers) not in _KNOWN:
        if model.verdict == "refused" and _is_same(_forces(compiled), model.forces):
            verdict = "idle"
        else:
            verdict = _look(compiled, text, model.name)
        _KNOWN[model.name, numbers] = verdict
    return _KNOWN[model.name, numbers], numbers


_KNOWN = dict[tuple[str, bytes], str]()
"""Verdicts on changed models by their names and numbers: those with the same ones are looked at once."""


def _forces(model: Any) -> np.ndarray:
    """Return forces that move a model through one state, without those of constraints and contacts."""
    data, random = mujoco.MjData(model), np.random.default_rng(3)
    data.qpos[:] = model.qpos0
    mujoco.mj_integratePos(model, data.qpos, random.uniform(-0.3, 0.3, model.nv), 1.0)
    data.qvel[:], data.qacc[:] = random.uniform(-1.0, 1.0, (2, model.nv))
    mujoco.mj_inverse(model, data)
    return data.qfrc_inverse + data.qfrc_constraint


def _is_same(one: np.ndarray, other: np.ndarray) -> bool:
    return one.shape == other.shape and bool(np.allclose(one, other, rtol=1e-9, atol=1e-12, equal_nan=True))


SEEN = ("body_", "jnt_", "dof_", "tendon_", "actuator_", "eq_", "site_", "wrap_", "qpos", "geom_fluid", "flex_", "n")
UNSEEN = ("name", "nbuffer", "narena", "nuser", "nnames", "nmesh", "npaths", "ntex", "nsensor", "nnum", "nkey")
_NAMES = sorted(name for name in dir(mujoco.MjModel) if name.startswith(SEEN) and not name.startswith(UNSEEN))


def _numbers(model: Any) -> bytes:
    """Return the arrays of a model that dynamics may depend on."""
    parts = [bytes(model.opt.disableflags.to_bytes(8, "little")), model.opt.gravity.tobytes(), model.opt.wind.tobytes()]
    parts += [model.names, np.array([model.opt.density, model.opt.viscosity, model.opt.disableactuator]).tobytes()]
    for name in _NAMES:
        value = getattr(model, name)
        parts.append(np.asarray(value).tobytes() if isinstance(value, np.ndarray | int | float) else b"")
    return b"".join(parts)


def _look(model: Any, text: str, name: str) -> str:
    """Return the verdict on a model that is changed from the one of a name."""
    data = text.encode()
    files = PackageFiles("model.xml", {})
    with patch.object(mjcf, "load", lambda path, files, data: (parse(data), model, mujoco)):  # in this process
        try:
            tree = mjcf.read_tree(data, "model.xml", files, "floating", "as they are")
        except ImportedError as error:
            return "refused" if any("--leave-out" in each.hint for each in error.problems) else "invalid"
    usual = _USUAL.setdefault(name, tree)
    if {each.got for each in tree.warnings} - {each.got for each in usual.warnings}:
        return "told"
    differences = _of_ratings(model, tree)
    for name in ("dof_damping", "dof_dampingpoly", "actuator_damping", "actuator_dampingpoly"):
        getattr(model, name)[...] = 0.0
    if np.any(model.opt.gravity != GRAVITY) or model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_GRAVITY:
        differences.append("gravity")
    peer = of_model(model, tree, np.zeros(len(tree.joints)))
    if peer is None:
        return "other joints"
    try:
        missed = _error_of_loops(tree, peer) if tree.loops else error_of_tree(tree, peer)
    except (InputError, TopologyError):  # of loops that cannot be closed, or let nothing move
        return "invalid"
    if not missed <= LARGEST_ERROR:
        differences.append(f"forces {missed:.1e}")
    is_same = repr(replace(tree, warnings=())) == repr(replace(usual, warnings=()))
    return ", ".join(differences) or ("idle" if is_same else "read")


def _error_of_loops(tree: Tree, peer: Spanning) -> float:
    errors = errors_of_loops(assembled(tree, "model.xml")[0], tree, peer)
    return float("inf") if errors is None else errors[0]


def error_of_tree(tree: Tree, peer: Spanning) -> float:
    """Return the largest difference of forces of the reader's tree, in Pinocchio, from MuJoCo's."""
    model, along, result = in_pinocchio(tree), following(tree), 0.0
    data, rotors = model.createData(), np.array([float(link.armature) for link in tree.links])
    for moment in np.random.default_rng(2).uniform(-0.6, 0.6, (STATES, 3, len(tree.free))):
        q, qd, qdd = moment @ along.T
        ours = along.T @ (pin.rnea(model, data, q, qd, qdd) + rotors * qdd)
        theirs = along.T @ peer.forces(q, qd, qdd)
        result = max(result, float(np.abs(ours - theirs).max() / np.abs(theirs).max()))
    return result


def in_pinocchio(tree: Tree) -> pin.Model:
    """Return a tree as a model of Pinocchio, whose joints come in the order of the links."""
    model, zero = pin.Model(), pin.SE3.Identity()
    model.gravity.linear = np.array(GRAVITY)
    for link in tree.links:
        kind = pin.JointModelPrismaticUnaligned if link.kind == "prismatic" else pin.JointModelRevoluteUnaligned
        kind = pin.JointModelHelicalUnaligned if link.pitch is not None else kind
        place = pin.SE3(*map(np.array, (link.placement.rotation, link.placement.position)))
        axis = (np.array(link.axis, dtype=float), *(() if link.pitch is None else (float(link.pitch),)))
        joint = model.addJoint(link.parent + 1, kind(*axis), place, link.joint)
        centre, tensor = map(np.array, (link.inertia.centre, link.inertia.tensor))
        model.appendBodyToJoint(joint, pin.Inertia(link.inertia.mass, centre, tensor), zero)
    return model


_USUAL = dict[str, Tree]()
"""Trees of the models as they are, by their names."""


def _of_ratings(model: Any, tree: Tree) -> list[str]:
    """Return the differences between a model and the ratings of joints: damping, friction, ranges."""
    differences, data = list[str](), mujoco.MjData(model)
    rates = np.random.default_rng(1).uniform(-1.0, 1.0, model.nv)
    data.qvel[:] = rates
    mujoco.mj_fwdPosition(model, data)
    mujoco.mj_fwdVelocity(model, data)
    ratings = {each.joint: each for each in tree.ratings}
    viscous, coulomb = np.zeros(model.nv), np.zeros(model.nv)
    bits, flags = mujoco.mjtDisableBit, int(model.opt.disableflags)
    is_limited = model.jnt_limited & (not flags & int(bits.mjDSBL_LIMIT | bits.mjDSBL_CONSTRAINT))
    loss = model.dof_frictionloss * (not flags & int(bits.mjDSBL_FRICTIONLOSS | bits.mjDSBL_CONSTRAINT))
    for joint in range(model.njnt):
        rating = ratings.get(model.joint(joint).name or f"joint_{joint}")
        if rating is not None:
            viscous[model.jnt_dofadr[joint]] = rating.viscous or 0.0
            coulomb[model.jnt_dofadr[joint]] = rating.coulomb or 0.0
            if bool(is_limited[joint]) != (rating.low is not None):
                differences.append("range")
        elif is_limited[joint]:
            differences.append("range")
    if np.abs(data.qfrc_damper + viscous * rates).max() > LARGEST_ERROR:
        differences.append("damping")
    if np.abs(loss - coulomb).max() > LARGEST_ERROR:
        differences.append("friction")
    return differences


def main(arguments: list[str]) -> int:
    """Print silent differences, each attribute once, and counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("elements", nargs="*", help="elements with their parents, as body/joint; default: all")
    parser.add_argument("--record", action="store_true", help=f"write their rows of {RECORD.name}")
    stated = parser.parse_args(arguments)
    os.environ[COMPILE] = ""  # samples are few: programs run as bytecode, with the same bits
    for model in _models():
        print(f"{model.name} as it is: {model.verdict}", flush=True)
    counts, silent, words = Counter[str](), set[tuple[str, str, str, str]](), schema()
    for path in stated.elements or words:
        verdicts = dict[str, set[str]]()
        for trial in trials(path, words[path]):
            verdicts.setdefault(trial.attribute, set()).add(trial.verdict)
            counts["silent" if trial.is_silent else trial.verdict] += 1
            kind = re.sub(r"[\d.e+-]+", "N", trial.verdict)
            row = (trial.model, trial.element, trial.attribute, kind)
            if trial.is_silent and row not in silent:
                silent.add(row)
                print(f"{trial.model}: <{path} {trial.attribute}={trial.value!r}>: {trial.verdict}", flush=True)
        if stated.record:
            write(path, words, verdicts, mujoco.__version__)
    print(f"{sum(counts.values())} values: {dict(counts)}")
    return int(bool(silent))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
