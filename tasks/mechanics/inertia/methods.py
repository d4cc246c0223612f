"""The table of methods for the inertia matrix of a tree, all for one sample, on floats and on traced expressions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from robots.data_classes import dataclass
from robots.model import Link
from robots.parameter_errors import nearest
from tasks.mathematics.algebra import array
from tasks.mechanics.inertia import crba, explicit, link_axes, momentum, pseudo_inertia
from tasks.mechanics.inertia.placed import Placed
from tasks.mechanics.kinematics import JointState, path

DEEP = 6
"""Mean number of joints from the base to a link above which a tree is deep.

In axes of the base a wrench is carried over a joint by 12 operations, in axes of links by up to 22, and a body takes
some 60 less.
"""


@dataclass(frozen=True)
class Method:
    """A way to the inertia matrix; `without_drives` is its mathematics, from a tree at a configuration.

    shallow: the same with fewer operations for trees that are not deep, from links and joint positions.
    """

    title: str
    without_drives: Callable[[Placed], np.ndarray]
    shallow: Callable[[Sequence[Link], Sequence[JointState]], np.ndarray] | None = None

    def __call__(self, links: Sequence[Link], states: Sequence[JointState]) -> np.ndarray:
        """Return the inertia matrix (n, n) in the order of the links, drives included [kg m^2, kg m or kg]."""
        drives = np.diag(array([link.armature for link in links]))
        if self.shallow is None or sum(len(path(links, i)) for i in range(len(links))) > DEEP * len(links):
            return array(self.without_drives(Placed.of(links, states)) + drives)
        return array(self.shallow(links, states) + drives)


METHODS: Mapping[str, Method] = {
    "crba": Method("composite rigid bodies", crba.matrix, link_axes.matrix),
    "explicit": Method("explicit elements", explicit.matrix),
    "momentum": Method("generalised momentum", momentum.matrix),
    "pseudo_inertia": Method("pseudo-inertia matrices", pseudo_inertia.matrix),
}


def method_named(name: str) -> Method:
    """Return the method of this name. Raises ValueError with the nearest name."""
    if name not in METHODS:
        raise ValueError(f"method: got {name!r}; expected one of {', '.join(METHODS)}; {nearest(name, METHODS)}")
    return METHODS[name]


def inertia_matrix(links: Sequence[Link], states: Sequence[JointState], method: str = "crba") -> np.ndarray:
    """Return the inertia matrix (n, n) of a tree, drives included. Raises ValueError for an unknown method."""
    return method_named(method)(links, states)
