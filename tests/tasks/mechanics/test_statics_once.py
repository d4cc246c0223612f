"""Statics of a limb at several motions of one configuration: unit causes are made once, with the same numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from robots import catalog
from robots.data_classes import replace
from tasks.features.friction import passive
from tasks.features.friction.requests import LimbFriction
from tasks.mechanics import reactions
from tasks.mechanics.families import mount_values, structure_of
from tasks.mechanics.kinematics import REST
from tasks.mechanics.limb_motion import Mounted, Solved
from tasks.mechanics.reactions import LimbStatics
from tasks.mechanics.solving import solved_limb
from tasks.mechanics.structure import with_parameters

GRAVITY = np.array([0.5, -0.3, -9.8])


def limb(name: str) -> tuple[Mounted, Solved]:
    """The first limb of a robot near its reference pose, in numbers."""
    family = catalog.family(name)
    structure, values = structure_of(family), {p.name: p.scalar for p in family.parameters}
    motion = np.random.default_rng(2).normal(size=structure.motion_size) * 0.1
    if not structure.mechanism.is_chain:
        home = structure.mechanism.platform.home
        pose = [*np.asarray(home.position, dtype=float), *np.ravel(np.asarray(home.rotation, dtype=float))]
        motion[:3] = pose[:3]
        if structure.motion_size != 9:
            motion[: len(pose)] = pose
    parameters = with_parameters(family, values)[0]
    mounted, solved, _, _ = solved_limb(structure, 0, parameters, mount_values(family, values)[0][0], motion)
    return mounted, solved


def shares(statics: LimbStatics, gravity: np.ndarray) -> Mapping[str, Any]:
    """Terms of a limb for friction in its joints that depends on their loads."""
    joints = range(len(statics.mounted.limb.joints))
    links = statics.mounted.limb.links
    turning = tuple(k for k in joints if k < len(links) and k not in statics.mounted.limb.followers)
    wanted = LimbFriction(turning, tuple(range(len(links))), statics=True)
    return passive.share(statics, REST, gravity, wanted) | reactions.share(statics, gravity)


@pytest.mark.parametrize("name", ["delta_3rr2rrr", "hexapod_6rrrprr", "irb6", "palletiser"])
def test_another_motion_has_the_terms_of_statics_of_its_own(name: str) -> None:
    mounted, solved = limb(name)
    first = LimbStatics(mounted, solved)
    before = shares(first, GRAVITY)
    for change in (0.5, -2.0):
        other = replace(solved, rates=solved.rates * change, accelerations=solved.accelerations + change)
        kept, fresh = shares(first.at_motion(other), GRAVITY), shares(LimbStatics(mounted, other), GRAVITY)
        assert list(kept) == list(fresh)
        for key, values in fresh.items():
            np.testing.assert_array_equal(np.asarray(kept[key], dtype=float), np.asarray(values, dtype=float), key)
        assert not np.array_equal(np.asarray(kept["load_own"], float), np.asarray(before["load_own"], float))
