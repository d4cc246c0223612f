"""Robots with screw joints: in a tree, in the legs of a platform, at the platform, in a loop; and a lifting jack."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from robots import catalog
from robots.geometry import point, shifted
from robots.model import PLATFORM, Closure, Family, Frame, Inertia, Instance, Limb, Link, Mechanism, Platform, Robot
from robots.parameters import Parameter
from robots.types import BASE, IDENTITY, ZERO
from tests.tasks import trees

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
NOTHING = point(0.0)
PITCH = Parameter("pitch", "m/rad", 0.2, 1e-6, 10.0, "pitch of the screw", "made up")


def family(name: str, assemble: Callable[[Mapping[str, Any]], Mechanism]) -> Family:
    """A family whose only parameter is the pitch."""
    return Family(name, "made up", "made up", (PITCH,), assemble)


def _placed(seed: int) -> Frame:
    random = np.random.default_rng(seed)
    rotation = Rotation.random(rng=random).as_matrix()
    return Frame(tuple(map(tuple, rotation)), tuple(random.normal(size=3)))  # type: ignore[arg-type]


def _body(seed: int) -> Inertia:
    return trees.body(np.random.default_rng(seed))


def _arm(p: Mapping[str, Any]) -> Mechanism:
    links = (
        Link("lift", "post", BASE, "screw", Z, _placed(1), _body(1), 0.3, p["pitch"]),
        Link("turn", "upper", 0, "revolute", (0.0, -1.0, 0.0), _placed(2), _body(2)),
        Link("drill", "spindle", 1, "screw", (-1.0, 0.0, 0.0), _placed(3), _body(3), 0.0, -0.5 * p["pitch"]),
        Link("slide", "sleeve", 1, "prismatic", X, _placed(4), _body(4)),
        Link("tool", "tool", 2, "revolute", Y, _placed(5), _body(5)),
    )
    return Mechanism.chain("arm", links, tuple(link.joint for link in links))


ARM = family("screw_arm", _arm)
"""A tree with two screws, one of them left-handed."""


def _legs(p: Mapping[str, Any]) -> Mechanism:
    mechanism = catalog.family("gough_stewart").reference
    (limb,) = mechanism.limbs
    rod = replace(limb.links[2], kind="screw", pitch=p["pitch"])
    return replace(mechanism, limbs=(replace(limb, links=(*limb.links[:2], rod)),))


LEGS = family("screw_legs", _legs)
"""A hexapod whose legs are turned out: a screw takes the place of the prismatic joint."""


def _wrists(p: Mapping[str, Any]) -> Mechanism:
    mechanism = catalog.family("gough_stewart").reference
    (limb,) = mechanism.limbs
    wrist = (
        Link("4", "wrist", 2, "revolute", X, Frame(), point(0.4)),
        Link("5", "nut", 3, "revolute", Y, Frame(), Inertia(0.5, (0.01, 0.02, 0.03), point(1.0).tensor)),
    )
    tip = Closure("6", "screw", 4, Frame(), PLATFORM, Frame(), p["pitch"])
    return replace(mechanism, limbs=(replace(limb, links=(*limb.links, *wrist), tips=(tip,)),))


WRISTS = family("screw_wrists", _wrists)
"""A hexapod whose legs end in a universal joint and a screw at the platform, which is cut."""


def loop(cut: str) -> Family:
    """A loop of a crank, a universal joint, a ball and a screw, driven at the crank; the `cut` joint closes it."""

    def assembled(p: Mapping[str, Any]) -> Mechanism:
        frame, nut = Frame(IDENTITY, (0.5, 0.2, 0.1)), Inertia(0.7, (0.05, 0.03, 0.1), _body(9).tensor)
        crank = Link("crank", "crank", BASE, "revolute", X, shifted((0.0, 0.0, 0.0)), _body(6))
        rod = (
            Link("u1", "cross", 0, "revolute", Y, shifted((0.1, 0.15, 0.0)), NOTHING),
            Link("u2", "rod", 1, "revolute", Z, Frame(), _body(7)),
        )
        ball = (0.5 - 0.1, 0.2 + 0.12 - 0.15, 0.1)  # of the rod; it sits on the nut at (0, 0.12, 0)
        if cut == "screw":
            turned = (
                Link("s1", "s1", 2, "revolute", X, shifted(ball), NOTHING),
                Link("s2", "s2", 3, "revolute", Y, Frame(), NOTHING),
                Link("s3", "nut", 4, "revolute", Z, Frame(), replace(nut, centre=(0.05, 0.03 - 0.12, 0.1))),
            )
            closure = Closure("nut", "screw", BASE, frame, 5, shifted((0.0, -0.12, 0.0)), p["pitch"])
            return Mechanism.chain("loop", (crank, *rod, *turned), ("crank",), (closure,))
        wound = Link("nut", "nut", BASE, "screw", Z, frame, nut, 0.0, p["pitch"])
        closure = Closure("ball", "spherical", 2, shifted(ball), 3, shifted((0.0, 0.12, 0.0)))
        return Mechanism.chain("loop", (crank, *rod, wound), ("crank",), (closure,))

    return family(f"screw_loop_{cut}", assembled)


SHAFT_INERTIA, LIFTED, UP = 0.02, 3.0, (0.0, 0.0, 0.3)


def _jack(p: Mapping[str, Any]) -> Mechanism:
    shaft = Link("shaft", "shaft", BASE, "revolute", Z, Frame(), Inertia(1.0, ZERO, point(1.0).tensor), SHAFT_INERTIA)
    nut = Closure("nut", "screw", 0, shifted(UP), PLATFORM, Frame(), p["pitch"])
    post = Link("post", "post", BASE, "revolute", Z, Frame(), point(1.0))
    guide = Closure("guide", "prismatic", 0, shifted(UP), PLATFORM, Frame())
    limbs = (Limb("lift", (shaft,), (), (nut,), ("shaft",)), Limb("guide", (post,), (), (guide,), ()))
    seats = (Frame(), Frame(position=(1.0, 0.0, 0.0)))
    instances = tuple(
        Instance(limb.name, k, seat, seat) for k, (limb, seat) in enumerate(zip(limbs, seats, strict=True))
    )
    return Mechanism(limbs, instances, Platform(point(LIFTED), ("vz",), shifted(UP)))


JACK = family("screw_jack", _jack)
"""A platform that a shaft with a thread lifts and a guide keeps from turning: torque in closed form."""


def _winch(p: Mapping[str, Any]) -> Mechanism:
    shaft = Link("shaft", "shaft", BASE, "revolute", Z, Frame(), Inertia(1.0, ZERO, point(1.0).tensor), SHAFT_INERTIA)
    block = Link("guide", "block", BASE, "prismatic", Z, shifted(UP), point(LIFTED))
    nut = Closure("nut", "screw", 1, Frame(), 0, shifted(UP), p["pitch"])
    return Mechanism.chain("winch", (shaft, block), ("shaft",), (nut,))


WINCH = family("screw_winch", _winch)
"""A shaft with a thread that moves a block on a guide, as a closed chain that the shaft drives."""


def sliding_legs() -> Robot:
    """The hexapod whose legs slide."""
    return catalog.build("gough_stewart")


def without_pitch() -> Robot:
    """The tree with revolute joints in place of the screws."""

    def assembled(p: Mapping[str, Any]) -> Mechanism:
        mechanism = _arm(p)
        (limb,) = mechanism.limbs
        links = (replace(each, kind="revolute", pitch=None) if each.kind == "screw" else each for each in limb.links)
        return replace(mechanism, limbs=(replace(limb, links=tuple(links)),))

    return robot(family("arm_without_pitch", assembled))


def with_loop(mechanism: Mechanism, closure: Closure) -> Mechanism:
    """The same chain with another closure."""
    (limb,) = mechanism.limbs
    return replace(mechanism, limbs=(replace(limb, loops=(closure,)),))


def robot(of: Family, pitch: float | None = None) -> Robot:
    """A robot with this pitch [m/rad]."""
    return Robot.of(of, {} if pitch is None else {"pitch": pitch})


def opened(mechanism: Mechanism) -> Any:
    """The same as plain data for another engine, screws at the platform as joints of the tree that end in a weld.

    So the engine's own helical joint takes the place of the conditions of a cut one.
    """

    def limb(each: Limb) -> Any:
        (tip,) = each.tips
        if tip.kind != "screw":
            return each
        screw = Link(tip.joint, "end", tip.a, "screw", Z, tip.frame_a, NOTHING, 0.0, tip.pitch)
        weld = SimpleNamespace(
            joint="weld", kind="weld", a=len(each.links), frame_a=Frame(), b=PLATFORM, frame_b=tip.frame_b
        )
        return SimpleNamespace(links=(*each.links, screw), loops=(), tips=(weld,), couplings=(), actuated=each.actuated)

    limbs = tuple(map(limb, mechanism.limbs))
    return SimpleNamespace(limbs=limbs, instances=mechanism.instances, platform=mechanism.platform)
