"""Limbs of a robot that are not alike: instances of one description with other values, or mirrored."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from robots.formats.templates import Late, fill
from robots.model import Closure, Frame, Inertia, Limb, Link, Mechanism
from robots.types import Matrix, Number, Vector

MIRRORS = ("x", "y", "z")
"""Axes of the mount frame across which a limb may be mirrored."""


@dataclass(frozen=True)
class Variant:
    """What is different in a limb of the robot: values of parameters by name, and an axis whose sign is changed."""

    values: tuple[tuple[str, Late], ...] = ()
    mirror: str | None = None


PLAIN = Variant()


def expanded(
    template: Mechanism, variants: Sequence[Variant], known: Callable[[Mapping[str, Number]], Mapping[str, Number]]
) -> tuple[Mechanism, tuple[int, ...]]:
    """The template with a limb for each different one of its instances, filled; limbs that none has are left out.

    `known` gives what expressions may use when some parameters have other values. Also which limb of the template each
    of its limbs is.
    """
    plain = known({})
    limbs: dict[tuple[int, Variant], Limb] = {}
    instances = []
    for instance, variant in zip(template.instances, variants, strict=True):
        key = (instance.limb, variant)
        if key not in limbs:
            own = known({name: fill(value, plain) for name, value in variant.values})
            limb: Limb = fill(template.limbs[instance.limb], own)
            if variant != PLAIN:
                limb = replace(limb, name=f"{limb.name}_{instance.name}")
            limbs[key] = limb if variant.mirror is None else mirrored(limb, MIRRORS.index(variant.mirror))
        instances.append(replace(fill(instance, plain), limb=list(limbs).index(key)))
    whole: Mechanism = replace(fill(template, plain), limbs=tuple(limbs.values()), instances=tuple(instances))
    return whole, tuple(source for source, _ in limbs)


def mirrored(limb: Limb, axis: int) -> Limb:
    """A limb whose points have another sign along an axis of its mount frames, at the base and at the platform."""

    def point(v: Vector) -> Vector:
        x, y, z = (-value if k == axis else value for k, value in enumerate(v))
        return (x, y, z)

    def spin(v: Vector) -> Vector:
        """The direction of a turn keeps its sign along the axis alone."""
        x, y, z = (value if k == axis else -value for k, value in enumerate(v))
        return (x + 0.0, y + 0.0, z + 0.0)

    def matrix(m: Matrix) -> Matrix:
        rows = tuple(
            tuple(-value if (i == axis) != (j == axis) else value for j, value in enumerate(row))
            for i, row in enumerate(m)
        )
        return rows  # type: ignore[return-value]

    def frame(f: Frame) -> Frame:
        return Frame(matrix(f.rotation), point(f.position))

    def link(body: Link) -> Link:
        load = Inertia(body.inertia.mass, point(body.inertia.centre), matrix(body.inertia.tensor))
        x, y, z = spin(body.axis) if body.joint_kind.turns else point(body.axis)
        pitch = None if body.pitch is None else -body.pitch
        placement = frame(body.placement)
        return replace(body, axis=(x + 0.0, y + 0.0, z + 0.0), placement=placement, inertia=load, pitch=pitch)

    def cut(joint: Closure) -> Closure:
        pitch = None if joint.pitch is None else -joint.pitch
        return replace(joint, frame_a=frame(joint.frame_a), frame_b=frame(joint.frame_b), pitch=pitch)

    drives = tuple(
        replace(drive, spins=tuple(replace(entry, axis=spin(entry.axis)) for entry in drive.spins))
        for drive in limb.drives
    )
    return replace(
        limb,
        links=tuple(map(link, limb.links)),
        loops=tuple(map(cut, limb.loops)),
        tips=tuple(map(cut, limb.tips)),
        drives=drives,
    )
