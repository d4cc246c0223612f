"""Axes of joints in any direction: frames of links are turned so that each has a coordinate axis of its own frame.

A robot file gives an axis in the frame that the link has by its placement, and everything on the link in that frame
too. The model knows coordinate axes alone, so the frame is turned from the coordinate axis that is nearest with the
defaults of all parameters to the direction; what is on the link is turned back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from robots.geometry import cross, dot, product, times, transpose, unit
from robots.model import Closure, Frame, Inertia, Limb, Link
from robots.types import IDENTITY, Matrix, Vector

Axes = Mapping[int, Vector]
"""Signed coordinate axes of links by their index, of those whose axis is none."""

BackTurn = Callable[[int, Frame], Frame]


def is_oblique(axis: Vector) -> bool:
    """Whether an axis is none of the coordinate axes with sign; an expression is not known to be one."""
    return not all(isinstance(x, float) for x in axis) or sorted(map(abs, axis)) != [0.0, 0.0, 1.0]


def nearest_axes(links: Sequence[Link], at_defaults: Sequence[Link]) -> dict[int, Vector]:
    """Coordinate axes of the links that have others, from the same links with numbers."""
    result: dict[int, Vector] = {}
    for k, (link, known) in enumerate(zip(links, at_defaults, strict=True)):
        if is_oblique(link.axis):
            direction = np.array(known.axis, dtype=float)
            place = int(np.argmax(np.abs(direction)))
            x, y, z = (float(np.copysign(i == place, direction[place])) if i == place else 0.0 for i in range(3))
            result[k] = (x, y, z)
    return result


def straightened_links(links: Sequence[Link], axes: Axes) -> tuple[tuple[Link, ...], BackTurn]:
    """Links whose joints have coordinate axes, and what turns back a frame that is given on one of them."""
    turns = {k: _turn(axis, unit(links[k].axis)) for k, axis in axes.items()}

    def turned_back(body: int, frame: Frame) -> Frame:
        if body not in turns:
            return frame
        inward = transpose(turns[body])
        return Frame(product(inward, frame.rotation), times(inward, frame.position))

    result = []
    for k, link in enumerate(links):
        placement = turned_back(link.parent, link.placement)
        if k in turns:
            turn, inward = turns[k], transpose(turns[k])
            (xx, xy, xz), (_, yy, yz), (_, _, zz) = product(product(inward, link.inertia.tensor), turn)
            tensor = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
            load = Inertia(link.inertia.mass, times(inward, link.inertia.centre), tensor)
            placement = Frame(product(placement.rotation, turn), placement.position)
            link = replace(link, axis=axes[k], inertia=load)
        result.append(replace(link, placement=placement))
    return tuple(result), turned_back


def straightened_cuts(cuts: Sequence[Closure], back: BackTurn) -> tuple[Closure, ...]:
    """Cut joints between links whose frames were turned."""
    return tuple(replace(cut, frame_a=back(cut.a, cut.frame_a), frame_b=back(cut.b, cut.frame_b)) for cut in cuts)


def straightened(limb: Limb, axes: Axes) -> Limb:
    """The limb with coordinate axes."""
    if not axes:
        return limb
    links, back = straightened_links(limb.links, axes)
    drives = tuple(
        replace(
            drive,
            spins=tuple(
                replace(spin, axis=back(spin.carrier, Frame(IDENTITY, spin.axis)).position) for spin in drive.spins
            ),
        )
        for drive in limb.drives
    )
    loops, tips = straightened_cuts(limb.loops, back), straightened_cuts(limb.tips, back)
    return replace(limb, links=links, loops=loops, tips=tips, drives=drives)


def _turn(start: Vector, end: Vector) -> Matrix:
    """The shortest turn from one direction to another one that is not opposite."""
    v, c = cross(start, end), dot(start, end)
    share = 1.0 / (c + 1.0)
    skew = ((0.0, -v[2], v[1]), (v[2], 0.0, -v[0]), (-v[1], v[0], 0.0))
    square = product(skew, skew)
    rows = tuple(tuple(IDENTITY[i][j] + skew[i][j] + square[i][j] * share for j in range(3)) for i in range(3))
    return rows  # type: ignore[return-value]
