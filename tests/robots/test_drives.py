"""Drives as data: names of actuators, and drives that do not fit are refused."""

from __future__ import annotations

import pytest

from robots.catalog.planar_3r import PLANAR_3R
from robots.drives import Drive, DriveError, Spin
from robots.model import Mechanism
from robots.types import BASE

LINKS = PLANAR_3R.reference.limbs[0].links
JOINTS = tuple(link.joint for link in LINKS)
Z = (0.0, 0.0, 1.0)


def test_drives_name_the_actuators_and_joints_the_freedoms() -> None:
    drives = tuple(Drive(f"motor_{k}", ((joint, 100.0),)) for k, joint in enumerate(JOINTS))
    mechanism = Mechanism.chain("arm", LINKS, JOINTS, drives=drives)
    assert mechanism.actuators == ("motor_0", "motor_1", "motor_2")
    assert mechanism.freedoms == JOINTS


def test_without_drives_the_actuated_joints_are_the_actuators() -> None:
    assert Mechanism.chain("arm", LINKS, JOINTS).actuators == JOINTS


@pytest.mark.parametrize(
    ("drives", "message"),
    [
        ((Drive("m", (("elbow", 2.0),)),), r"limb arm: drive 'm' has a ratio for 'elbow'; expected joints of the tree"),
        ((Drive("m", ()),), r"limb arm: drive 'm' moves nothing; expected a ratio for a joint"),
        ((Drive("m", (("joint_1", 1.0),)),) * 2, r"limb arm: got 2 drives called 'm'; expected names of their own"),
        (
            (Drive("joint_1", (("joint_1", 1.0),)),),
            r"limb arm: drive 'joint_1' is called as a joint is; expected",
        ),
        (
            (Drive("m", (("joint_1", 1.0),), (Spin(1e-4, 3, Z),)),),
            r"limb arm: drive 'm' spins on link 3; expected the index of one of 3 links, or -1, the base",
        ),
    ],
)
def test_drives_that_do_not_fit_are_refused(drives: tuple[Drive, ...], message: str) -> None:
    with pytest.raises(DriveError, match=message):
        Mechanism.chain("arm", LINKS, JOINTS, drives=drives)


def test_a_drive_may_spin_on_the_base() -> None:
    drive = Drive("m", (("joint_1", 1.0),), (Spin(1e-4, BASE, Z),))
    assert Mechanism.chain("arm", LINKS, JOINTS, drives=(drive,)).limbs[0].drives == (drive,)
