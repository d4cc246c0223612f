"""Stops of the joints of a spanning tree: contacts at rest, impacts, and forces of contacts.

A stop bears if its joint is at its end without velocity and would be accelerated beyond it. Its row is then one more
constraint, whose force can only push. A joint that arrives with velocity rebounds with a share of it (Newton's law of
impact). The impulses of all stops that are hit at once, and of the rows of the loops, cause the rebound. Sources:
Glocker 2001, Set-Valued Force Laws; Featherstone 2008, Rigid Body Dynamics Algorithms, chapter 11.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robots.data_classes import dataclass
from robots.model import Mechanism
from robots.stops import Stops, stopped_joints

Numbers = NDArray[np.float64]
Mask = NDArray[np.bool_]

Contacts = NDArray[np.int8]
"""Contacts of stops (samples, stop): -1 or 1 where the joint rests at its low or high end, -2 or 2 where latched."""

BEYOND = 1e-12
"""Distance beyond an end [rad or m], relative to 1 or to its position, from which it has been passed."""


@dataclass(frozen=True)
class TreeStops:
    """Stops by number of the joint in the tree; arrays (stop,)."""

    joints: NDArray[np.int64]
    low: Numbers
    high: Numbers
    restitution: Numbers
    latch: Mask

    @classmethod
    def of(cls, mechanism: Mechanism, stops: Stops, first: int) -> TreeStops:
        """Return the stops of a robot; `first`: number of the joints of the tree before those of the limbs.

        Raises ParameterError for joints that are not there.
        """
        sizes = [len(mechanism.limbs[instance.limb].links) for instance in mechanism.instances]
        begins = np.cumsum([first, *sizes])
        found = stopped_joints(mechanism, stops)
        joints = np.array([int(begins[place.limb]) + place.joint for place in found], dtype=np.int64)
        low, high, back = (
            np.array([getattr(stop, key) for stop in found.values()], dtype=float)
            for key in ("low", "high", "restitution")
        )
        return cls(joints, low, high, back, np.array([stop.latch for stop in found.values()], dtype=bool))

    def __len__(self) -> int:
        """Return the number of joints that have stops."""
        return len(self.joints)

    def rows(self, bearing: Mask, joints: int) -> Numbers:
        """Return the rows (samples, stop, joint) of the bearing stops; zero for others."""
        units = np.zeros((len(self), joints))
        units[np.arange(len(self)), self.joints] = 1.0
        return np.where(bearing[..., None], units, 0.0)

    def room(self, angles: Numbers, contacts: Contacts) -> Numbers:
        """Return the distance of free joints to the nearer end [rad or m] (samples, stop); infinite where one rests."""
        at = angles[:, self.joints]
        return np.where(contacts == 0, np.minimum(at - self.low, self.high - at), np.inf)

    @property
    def beyond(self) -> Numbers:
        """Distance (stop,) from which an end has been passed."""
        ends = [np.where(np.isfinite(end), np.abs(end), 0.0) for end in (self.low, self.high)]
        return BEYOND * np.maximum(1.0, np.maximum(*ends))

    def side(self, angles: Numbers) -> Contacts:
        """Return -1 where a joint is nearer to its low end, 1 where to its high end."""
        at = angles[:, self.joints]
        return np.where(at - self.low < self.high - at, -1, 1).astype(np.int8)
