"""Attributes of bodies and joints of USD stages: read, refused unless zero, or without effect.

An attribute in no table gives a warning. Names are patterns: instances of limits and drives have a name inside. Source:
UsdPhysics of OpenUSD 26, and attributes that simulators add to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from robots.data_classes import dataclass
from robots.formats.xml_tree import FormatError


@dataclass(frozen=True)
class PrimWords:
    """Attributes of a kind of prim, in words with spaces between: read, refused unless zero, without effect."""

    read: str
    refused: str
    idle: str


_IDLE = (
    "physics:collisionEnabled physics:simulationOwner physics:filteredPairs physics:approximation physxCollision:* "
    "physxContactReport:* physxConvex*:* physxTriangle*:* physxSDF*:* physxArticulation:*"
)
USD: Mapping[str, PrimWords] = {
    "body": PrimWords(
        "physics:rigidBodyEnabled physics:kinematicEnabled physics:mass physics:centerOfMass physics:diagonalInertia "
        "physics:principalAxes",
        "mjc:body:gravcomp physxRigidBody:linearDamping physxRigidBody:angularDamping physxRigidBody:disableGravity "
        "physxRigidBody:lockedPosAxis physxRigidBody:lockedRotAxis",
        "physics:density physics:velocity physics:angularVelocity physics:startsAsleep physxRigidBody:max* "
        "physxRigidBody:solver* physxRigidBody:sleepThreshold physxRigidBody:stabilizationThreshold "
        f"physxRigidBody:enable*CCD {_IDLE}",
    ),
    "joint": PrimWords(
        "physics:body0 physics:body1 physics:localPos0 physics:localPos1 physics:localRot0 physics:localRot1 "
        "physics:axis physics:lowerLimit physics:upperLimit physics:jointEnabled physics:excludeFromArticulation "
        "limit:*:physics:low limit:*:physics:high drive:*:physics:maxForce physxJoint:armature mjc:armature "
        "newton:armature mjc:damping mjc:frictionloss",
        "mjc:stiffness",
        "physics:breakForce physics:breakTorque physics:coneAngle0Limit physics:coneAngle1Limit "
        "drive:*:physics:stiffness drive:*:physics:damping drive:*:physics:targetPosition "
        "drive:*:physics:targetVelocity drive:*:physics:type state:*:physics:position state:*:physics:velocity "
        f"physxLimit:*:* {_IDLE}",
    ),
}
"""Words of prims that are rigid bodies, which may have shapes as well, and of joints."""


def unread(stage: Mapping[str, Any]) -> Iterator[FormatError]:
    """Yield the attributes of bodies and joints of a stage that are in no table, each once."""
    reported = set[tuple[str, str]]()
    for kind, prims in (("body", stage["bodies"]), ("joint", stage["joints"])):
        words = USD[kind]
        known = f"{words.read} {words.refused} {words.idle}".split()
        for prim in prims:
            for name in prim["authored"]:
                if (kind, name) not in reported and not any(fnmatchcase(name, pattern) for pattern in known):
                    reported.add((kind, name))
                    place = f"{'link' if kind == 'body' else kind} {prim['name']}"
                    got, hint = f"an attribute {name} that is not read", "It changes nothing, here and below."
                    yield FormatError(0, place, got, "known attributes", hint)
