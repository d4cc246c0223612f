"""Each attribute of MuJoCo's schema, set to values in models that have all elements: what it changes there and here.

    python -m benchmarks.imports.attributes [ELEMENT ...]

A model is changed in one attribute and compiled. Where the reader takes it without a warning, forces of its joints have
to be those of MuJoCo with springs, compensated gravity, fluids and tendons, and the friction, ranges and gravity that
MuJoCo has have to be those of the ratings. What differs is printed: an attribute that changes dynamics in silence. The
exit status is 1 then.
"""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

import mujoco
import numpy as np
import pinocchio as pin

from benchmarks import COMPILE
from benchmarks.imports.comparison import LARGEST_ERROR, errors_of_loops
from benchmarks.imports.mujoco import of_model
from benchmarks.imports.spanning import Spanning, following
from pipeline.errors import InputError
from pipeline.robot_files.closing import assembled
from pipeline.robot_files.packages import PackageFiles
from robots.formats import mjcf
from robots.formats.tree import Tree
from robots.formats.xml_tree import ImportedError, parse
from tasks.mechanics.topology import TopologyError

OPEN = """
<mujoco model="tree">
  <compiler angle="radian"/><option><flag/></option><size/><statistic/>
  <default>
    <joint/><geom/><site/><equality/><tendon/><general/><mesh/>
  </default>
  <asset><mesh name="m" vertex="0 0 0 .1 0 0 0 .1 0 0 0 .1"/></asset>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 1" pos="0 0 -2"/>
    <body name="a" pos="0 0 .5">
      <joint name="ja" axis="0 0 1"/><geom name="ga" type="capsule" fromto="0 0 0 .3 .1 0" size=".03"/>
      <site name="sa" pos=".1 0 .1"/><camera name="ca"/><light name="la"/>
      <body name="b" pos=".3 .1 0">
        <inertial pos=".1 .02 .03" mass="1.3" diaginertia=".02 .03 .025"/>
        <joint name="jb" type="slide" axis="1 .2 0"/><site name="sb" pos=".1 .1 0"/>
        <body name="c" pos="0 .2 0">
          <joint name="jc" type="hinge" pos=".02 0 .01" axis="0 1 .3"/><geom name="gc" type="mesh" mesh="m"/>
          <site name="sc" pos="0 .1 .1"/>
          <body name="d" pos=".1 0 .2">
            <joint name="jd" type="ball"/><geom name="gd" type="box" size=".05 .04 .03" pos=".02 .1 0"/>
            <body name="e" pos="0 .1 .1">
              <joint name="je" axis="1 0 0"/><geom name="ge" type="sphere" size=".05" pos="0 .05 0"/>
            </body>
          </body>
        </body>
      </body>
      <body name="f" pos="-.2 0 0">
        <joint name="jf" axis="0 1 0"/><joint name="jg" axis="0 0 1" type="slide"/>
        <geom name="gf" type="cylinder" size=".03 .1" pos=".05 0 0"/>
      </body>
    </body>
  </worldbody>
  <contact><pair geom1="ge" geom2="floor"/><exclude body1="a" body2="e"/></contact>
  <tendon>
    <spatial name="ts"><site site="sa"/><site site="sc"/></spatial>
    <fixed name="tf"><joint joint="ja" coef="1"/><joint joint="jc" coef="-.5"/></fixed>
  </tendon>
  <actuator>
    <general name="a0" joint="ja"/><motor name="a1" joint="jb"/><position name="a2" joint="jc"/>
    <velocity name="a3" joint="je"/><intvelocity name="a4" joint="jf" actrange="-1 1"/>
    <damper name="a5" joint="jf" ctrlrange="0 1"/><cylinder name="a6" joint="jg"/>
    <muscle name="a7" tendon="ts" lengthrange=".1 1"/><motor name="a8" tendon="tf"/><motor name="a9" site="sc"/>
    <general name="a10" joint="jd"/><pid name="a11" joint="ja" ki="1"/><general name="a12" body="e"/>
    <dcmotor name="a13" joint="ja" motorconst="1 1" resistance="1"/>
  </actuator>
  <sensor><jointpos joint="ja"/></sensor>
  <custom><numeric name="n" data="1"/></custom>
  <keyframe><key name="k"/></keyframe>
</mujoco>
"""
"""A tree with joints, bodies, tendons and actuators of all kinds."""

CLOSED = """
<mujoco model="loop">
  <compiler angle="radian"/><option><flag/></option><default><equality/></default>
  <worldbody>
    <body name="a"><joint name="ja" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 .3" size=".02"/>
      <body name="b" pos="0 0 .3"><joint name="jb" axis="0 1 0"/>
        <geom type="capsule" fromto="0 0 0 .4 0 .1" size=".02"/><site name="sb" pos=".4 0 .1"/></body></body>
    <body name="c" pos=".4 0 0"><joint name="jc" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 .4" size=".02"/>
      <site name="sc" pos="0 0 .4"/>
      <body name="d" pos="0 0 .2"><joint name="jd" axis="1 0 0"/><geom type="sphere" size=".05" pos=".1 .1 0"/></body>
      <body name="e" pos="0 0 .1"><joint name="je" axis="1 0 0"/><geom type="sphere" size=".05" pos=".1 0 0"/></body>
    </body>
  </worldbody>
  <tendon><fixed name="ta"><joint joint="jd" coef="1"/></fixed><fixed name="tb"><joint joint="je" coef="2"/></fixed>
  </tendon>
  <equality>
    <connect name="e0" site1="sb" site2="sc"/>
    <tendon name="e1" tendon1="ta" tendon2="tb"/>
  </equality>
  <actuator><motor name="m0" joint="ja"/><motor name="m1" joint="je"/></actuator>
</mujoco>
"""
"""A loop of three bars, and a joint that follows another."""

COUPLED = """
<mujoco model="coupled">
  <compiler angle="radian"/><option><flag/></option><default><equality/></default>
  <worldbody>
    <body name="a"><joint name="ja" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 .3" size=".02"/>
      <body name="b" pos="0 0 .3"><joint name="jb" axis="0 1 0"/>
        <geom type="capsule" fromto="0 0 0 .4 0 .1" size=".02"/>
        <body name="g" pos=".1 0 .2"><joint name="jg" axis="0 0 1"/>
          <geom type="box" size=".1 .2 .03" pos=".1 0 0"/></body>
      </body></body>
    <body name="c" pos=".4 0 0"><joint name="jc" type="ball"/><geom type="capsule" fromto="0 0 0 0 0 .4" size=".02"/>
      <body name="d" pos="0 0 .4"><joint name="jd" type="slide" axis="0 0 1"/><geom type="sphere" size=".05"/></body>
    </body>
  </worldbody>
  <equality><joint name="e1" joint1="jb" joint2="ja"/><weld name="e0" body1="b" body2="d" active="false"/></equality>
  <actuator><motor name="m0" joint="ja"/></actuator>
</mujoco>
"""
"""A joint that follows another by an equality, and a weld that is not active."""

MODELS = {"tree": OPEN, "loop": CLOSED, "coupled": COUPLED}

VALUES = (
    "0.3", "-0.4", "1", "2", "3", "0", "-1", "true", "false", "auto", "enable", "disable", "0.1 0.2", "-1 1", "1 1",
    "0.2 1", "0.1 0.2 0.3", "-0.3 0.7 0.1", "0 0 1", "1 2 3", "0.5 0.5 0.5 0.5", "0.8 0.6 0 0", "0.1 0.2 0.3 0.4 0.5",
    "0.02 0.03 0.025 0.001 0.002 0.003", "1 0 0 0 0.6 0.8", "0.1 0.2 0.3 0.6 0.8 0 0", "1 0.5 0.2 0.1 0.05 0.3 0.2 1",
    "ja", "jb", "jc", "jd", "je", "a", "b", "c", "d", "sa", "sb", "sc", "ts", "tf", "ta", "tb", "ga", "gc", "m",
    "world", "hinge", "slide", "ball", "free", "box", "sphere", "capsule", "cylinder", "ellipsoid", "mesh", "degree",
    "XYZ", "zyx", "none", "integrator", "filter", "filterexact", "user", "affine", "fixed", "muscle", "implicit",
    "RK4", "elliptic", "dense", "convex", "exact", "shell",
)  # fmt: skip
"""Values that are tried of each attribute: whatever MuJoCo compiles counts."""

GRAVITY = (0.0, 0.0, -9.81)
STATES = 3
ENOUGH = 5
"""Values of an attribute that change numbers, after which others are left out."""


@dataclass(frozen=True)
class Trial:
    """An attribute with a value in a model, and what became of it."""

    model: str
    element: str
    attribute: str
    value: str
    verdict: str
    """`refused`, `told`, `same`, or what differs."""

    @property
    def is_silent(self) -> bool:
        """Return whether MuJoCo differs without a word."""
        return self.verdict not in ("refused", "told", "same")


def schema() -> Iterator[tuple[str, list[str]]]:
    """Yield tag and attributes of each element of MuJoCo's schema; those of bodies under both tags that have them."""
    rows = list[tuple[str, list[str]]]()
    for line in mujoco.mj_printSchema(False, False).splitlines():
        if head := re.match(r" *(\S+) \(.\) *(.*)$", line):
            rows.append((head[1].removeprefix("(world)"), head[2].split()))
        elif rows:
            rows[-1][1].extend(line.split())
    merged = dict[str, list[str]]()
    for tag, attributes in rows:
        merged.setdefault(tag, []).extend(each for each in attributes if each not in merged.get(tag, ()))
    yield from merged.items()


def trials(elements: list[str]) -> Iterator[Trial]:
    """Yield a trial of each element, attribute and value that MuJoCo compiles."""
    for name, text in MODELS.items():
        places = [each.tag for each in ElementTree.fromstring(text).iter()]
        for tag, attributes in schema():
            if tag in places and (tag in elements or not elements):
                for attribute in attributes:
                    yield from _trials_of(name, tag, attribute)


def _trials_of(name: str, tag: str, attribute: str) -> Iterator[Trial]:
    """Change the attribute in each element of a tag, all at once and the first alone."""
    looked = len(_KNOWN)
    for value in VALUES:
        if len(_KNOWN) > looked + ENOUGH:
            return
        for first in (True, False):
            root = ElementTree.fromstring(MODELS[name])
            found = [each for each in root.iter(tag) if each.get("name") != "default"]
            for element in found[: 1 if first else None]:
                element.set(attribute, value)
            if not first and len(found) < 2:
                continue
            text = ElementTree.tostring(root, encoding="unicode")
            try:
                model = mujoco.MjModel.from_xml_string(text)
            except ValueError:
                continue
            yield Trial(name, tag, attribute, value, _verdict(model, text))


_KNOWN = dict[bytes, str]()


def _verdict(model: Any, text: str) -> str:
    """Return the verdict on a model; those with the same numbers are looked at once."""
    key = _numbers(model)
    if key not in _KNOWN:
        _KNOWN[key] = _look(model, text)
    return _KNOWN[key]


SEEN = ("body_", "jnt_", "dof_", "tendon_", "actuator_", "eq_", "site_", "wrap_", "qpos", "geom_fluid", "flex_", "n")
UNSEEN = ("name", "names", "nbuffer", "narena", "nuser", "nnames", "nmesh", "npaths", "ntex", "nsensor", "nnum", "nkey")


def _numbers(model: Any) -> bytes:
    """Return the arrays of a model that dynamics may depend on."""
    parts = [bytes(model.opt.disableflags.to_bytes(8, "little")), model.opt.gravity.tobytes(), model.opt.wind.tobytes()]
    parts += [np.array([model.opt.density, model.opt.viscosity, model.opt.disableactuator]).tobytes()]
    for name in sorted(dir(model)):
        if name.startswith(SEEN) and not name.startswith(UNSEEN):
            value = getattr(model, name)
            parts.append(np.asarray(value).tobytes() if isinstance(value, np.ndarray | int | float) else b"")
    return b"".join(parts)


def _look(model: Any, text: str) -> str:
    data = text.encode()
    vars(mjcf)["load"] = lambda path, files, data: (parse(data), model, mujoco)  # in this process
    files = PackageFiles("model.xml", {})
    try:
        tree = mjcf.read_tree(data, "model.xml", files, inertias="as they are")
    except ImportedError:
        return "refused"
    usual = set(_WARNINGS.setdefault(tree.name, [str(each.got) for each in tree.warnings]))
    if {str(each.got) for each in tree.warnings} - usual:
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
        error = _error_of_loops(tree, peer) if tree.loops else error_of_tree(tree, peer)
    except (InputError, TopologyError):  # of loops that cannot be closed, or let nothing move
        return "refused"
    if not error <= LARGEST_ERROR:
        differences.append(f"forces {error:.1e}")
    return ", ".join(differences) or "same"


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


_WARNINGS = dict[str, list[str]]()


def _of_ratings(model: Any, tree: Tree) -> list[str]:
    """Return what differs between a model and the ratings of joints: damping, friction, ranges."""
    differences, data = list[str](), mujoco.MjData(model)
    rates = np.random.default_rng(1).uniform(-1.0, 1.0, model.nv)
    data.qvel[:] = rates
    mujoco.mj_forward(model, data)
    ratings = {each.joint: each for each in tree.ratings}
    viscous, coulomb = np.zeros(model.nv), np.zeros(model.nv)
    for joint in range(model.njnt):
        rating = ratings.get(model.joint(joint).name)
        if rating is not None:
            viscous[model.jnt_dofadr[joint]] = rating.viscous or 0.0
            coulomb[model.jnt_dofadr[joint]] = rating.coulomb or 0.0
            if bool(model.jnt_limited[joint]) != (rating.low is not None):
                differences.append("range")
        elif model.jnt_limited[joint]:
            differences.append("range")
    if np.abs(data.qfrc_damper + viscous * rates).max() > LARGEST_ERROR:
        differences.append("damping")
    if np.abs(model.dof_frictionloss - coulomb).max() > LARGEST_ERROR:
        differences.append("friction")
    return differences


def main(arguments: list[str]) -> int:
    """Print what differs in silence, each attribute once, and counts."""
    os.environ[COMPILE] = ""  # samples are few: programs run as bytecode, with the same bits
    for name, text in MODELS.items():
        print(f"{name} as it is: {_verdict(mujoco.MjModel.from_xml_string(text), text)}", flush=True)
    counts, silent = Counter[str](), set[tuple[str, str, str, str]]()
    tried = set[tuple[str, str]]()
    for trial in trials(arguments):
        tried.add((trial.element, trial.attribute))
        counts["silent" if trial.is_silent else trial.verdict] += 1
        kind = re.sub(r"[\d.e+-]+", "N", trial.verdict)
        row = (trial.model, trial.element, trial.attribute, kind)
        if trial.is_silent and row not in silent:
            silent.add(row)
            print(f"{trial.model}: <{trial.element} {trial.attribute}={trial.value!r}>: {trial.verdict}", flush=True)
    print(f"{len(tried)} attributes, {sum(counts.values())} values: {dict(counts)}")
    return int(bool(silent))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
