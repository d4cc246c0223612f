"""Read the rigid bodies and joints of a USD stage in a process of its own: run by `bounded`, as a file.

Argument: path. Writes JSON to standard output: numbers in SI units, frames in the world with z up. It imports no module
of limbsweep, and the process can write no file.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from typing import Any, TypeAlias

# Objects of OpenUSD, which has no type information.
Prim: TypeAlias = Any
Matrix: TypeAlias = Any
Quaternion: TypeAlias = Any

BODY_NUMBERS = (
    "mjc:body:gravcomp", "physxRigidBody:linearDamping", "physxRigidBody:angularDamping",
    "physxRigidBody:lockedPosAxis", "physxRigidBody:lockedRotAxis",
)  # fmt: skip
FLAGS = ("physxRigidBody:disableGravity",)
JOINT_NUMBERS = (
    "physxJoint:armature", "mjc:armature", "newton:armature", "mjc:stiffness", "mjc:damping", "mjc:frictionloss",
)  # fmt: skip
OF_PHYSICS = ("physics:", "physx", "drive:", "limit:", "state:", "mjc:", "newton:")
"""Beginnings of the names of attributes that affect dynamics."""

MIMICS = ("NewtonMimicAPI", "PhysxMimicJointAPI")


class StageReader:
    """A stage: its prims, and their poses in the world in metres, z up."""

    def __init__(self, path: str) -> None:
        from pxr import Gf, Usd, UsdGeom, UsdPhysics

        self.gf, self.usd, self.physics = Gf, Usd, UsdPhysics
        self.stage = Usd.Stage.Open(path)
        self.metres = UsdGeom.GetStageMetersPerUnit(self.stage)
        self.kilograms = UsdPhysics.GetStageKilogramsPerUnit(self.stage)
        self.up = UsdGeom.GetStageUpAxis(self.stage)
        self.cache = UsdGeom.XformCache()
        self.prims = list(Usd.PrimRange(self.stage.GetPseudoRoot(), Usd.TraverseInstanceProxies()))

    def found(self) -> dict[str, Any]:
        """Return bodies, joints and other content that changes dynamics."""
        bodies = [self.body(prim) for prim in self.prims if self.is_body(prim)]
        joints = [self.joint(prim) for prim in self.prims if prim.IsA(self.physics.Joint)]
        layers = [layer.realPath for layer in self.stage.GetUsedLayers() if layer.realPath]
        ties = [
            (prim.GetName(), word)
            for prim in self.prims
            for word in (str(prim.GetTypeName()), *_schemas(prim))
            if word.startswith(("MjcEquality", "MjcTendon")) and not prim.IsA(self.physics.Joint)
        ]
        return {"bodies": bodies, "joints": joints, "layers": layers, "ties": ties, "gravity": self.gravity()}

    def is_body(self, prim: Prim) -> bool:
        """Return whether a prim is a rigid body that is not disabled."""
        api = self.physics.RigidBodyAPI(prim) if prim.HasAPI(self.physics.RigidBodyAPI) else None
        return api is not None and api.GetRigidBodyEnabledAttr().Get() is not False

    def gravity(self) -> list[float] | None:
        """Return the gravity of the scene [m/s^2]; None if the stage does not define it."""
        for prim in self.prims:
            if prim.IsA(self.physics.Scene):
                scene = self.physics.Scene(prim)
                size, way = scene.GetGravityMagnitudeAttr().Get(), scene.GetGravityDirectionAttr().Get()
                down = (0.0, -1.0, 0.0) if self.up == "Y" else (0.0, 0.0, -1.0)
                direction = tuple(way) if way is not None and any(way) else down
                length = math.sqrt(sum(x * x for x in direction))
                value = 9.81 if size is None or size < 0 or math.isinf(size) else size * self.metres
                return self.turned([x / length * value for x in direction])
        return None

    def turned(self, vector: Sequence[float]) -> list[float]:
        """Return a vector of the world with z up."""
        x, y, z = (float(entry) for entry in vector)
        return [x, -z, y] if self.up == "Y" else [x, y, z]

    def world(self, prim: Prim) -> tuple[Any, list[float]]:
        """Return the pose of a prim in the world (a matrix without scale), and its scale."""
        matrix = self.cache.GetLocalToWorldTransform(prim)
        rows = [[matrix[k][j] for j in range(3)] for k in range(3)]
        scale = [math.sqrt(sum(x * x for x in row)) for row in rows]
        return matrix.RemoveScaleShear(), scale

    def frame(
        self, matrix: Matrix, position: Sequence[float] = (0, 0, 0), quaternion: Quaternion = None
    ) -> dict[str, Any]:
        """Return a frame in a prim as one of the world: rotation, columns are axes, and position [m]."""
        local = self.gf.Matrix4d(1.0)
        if quaternion is not None:
            local.SetRotate(self.gf.Quatd(quaternion))
        local.SetTranslateOnly(self.gf.Vec3d(*position))
        whole = local * matrix
        axes = [self.turned(whole.GetRow3(k)) for k in range(3)]
        place = [x * self.metres for x in self.turned(whole.ExtractTranslation())]
        return {"axes": axes, "position": place}

    def body(self, prim: Prim) -> dict[str, Any]:
        """Return a rigid body: frame, mass, centre in the world, principal moments and their axes in the world."""
        matrix, scale = self.world(prim)
        api = self.physics.MassAPI(prim) if prim.HasAPI(self.physics.MassAPI) else None
        mass = None if api is None else api.GetMassAttr().Get()
        centre = None if api is None else api.GetCenterOfMassAttr().Get()
        moments = None if api is None else api.GetDiagonalInertiaAttr().Get()
        turn = None if api is None else api.GetPrincipalAxesAttr().Get()
        has_centre = centre is not None and all(math.isfinite(x) for x in centre)
        at = [x * s for x, s in zip(centre or (), scale, strict=True)] if has_centre else (0, 0, 0)
        turn = None if turn is None or turn.GetLength() == 0 else turn
        square = self.kilograms * self.metres**2
        return {
            "path": str(prim.GetPath()),
            "name": prim.GetDisplayName() or prim.GetName(),
            "frame": self.frame(matrix),
            "mass": None if not mass else mass * self.kilograms,
            "inertial": self.frame(matrix, at, turn),
            "has_centre": has_centre,
            "moments": None if moments is None or not any(moments) else [x * square for x in moments],
            "kinematic": bool(self.physics.RigidBodyAPI(prim).GetKinematicEnabledAttr().Get()),
            "numbers": self.numbers(prim, BODY_NUMBERS),
            "authored": _authored(prim),
            "flags": [name for name in FLAGS if prim.HasAttribute(name) and prim.GetAttribute(name).Get()],
        }

    def numbers(self, prim: Prim, names: Sequence[str]) -> dict[str, float]:
        """Return attributes of other schemas that are numbers other than zero."""
        result = {}
        for name in names:
            if prim.HasAttribute(name):
                value = prim.GetAttribute(name).Get()
                values = [value] if isinstance(value, int | float) else list(value or ())
                if any(values):
                    result[name] = float(next(x for x in values if x))
        return result

    def joint(self, prim: Prim) -> dict[str, Any]:
        """Return a joint: type, bodies, a frame of the world on each, axis, limits, drives."""
        joint = self.physics.Joint(prim)
        ends = [self._end(prim, side) for side in (0, 1)]
        limits, drives = self._limits_and_drives(prim)
        single = [prim.GetAttribute(f"physics:{name}Limit").Get() if prim.HasAttribute(f"physics:{name}Limit") else None
                  for name in ("lower", "upper")]  # fmt: skip
        axis = prim.GetAttribute("physics:axis").Get() if prim.HasAttribute("physics:axis") else "X"
        return {
            "path": str(prim.GetPath()),
            "name": prim.GetDisplayName() or prim.GetName(),
            "type": str(prim.GetTypeName()),
            "enabled": joint.GetJointEnabledAttr().Get() is not False,
            "excluded": bool(joint.GetExcludeFromArticulationAttr().Get()),
            "bodies": [body for body, _ in ends],
            "frames": [frame for _, frame in ends],
            "axis": str(axis or "X"),
            "limits": limits,
            "single": [_finite(x) for x in single],
            "drives": drives,
            "numbers": self.numbers(prim, JOINT_NUMBERS),
            "authored": _authored(prim),
            "mimics": [name for name in _schemas(prim) if name.startswith(MIMICS)],
            "metres": self.metres,
        }

    def _end(self, prim: Prim, side: int) -> tuple[str, dict[str, Any]]:
        """Return the body at one end of a joint, empty for the world, and the frame of the joint there."""
        joint = self.physics.Joint(prim)
        relation = joint.GetBody1Rel() if side else joint.GetBody0Rel()
        position = joint.GetLocalPos1Attr() if side else joint.GetLocalPos0Attr()
        rotation = joint.GetLocalRot1Attr() if side else joint.GetLocalRot0Attr()
        targets = relation.GetTargets()
        target = self.stage.GetPrimAtPath(targets[0]) if targets else None
        matrix, scale = (self.gf.Matrix4d(1.0), [1, 1, 1]) if not target else self.world(target)
        at = [x * s for x, s in zip(position.Get() or (0, 0, 0), scale, strict=True)]
        while target and not self.is_body(target):
            target = target.GetParent() if not target.IsPseudoRoot() else None
        return str(target.GetPath()) if target else "", self.frame(matrix, at, rotation.Get())

    def _limits_and_drives(self, prim: Prim) -> tuple[dict[str, list[float | None]], dict[str, float | None]]:
        """Return the limits of a joint's freedoms, and the largest forces of their drives."""
        limits, drives = {}, {}
        for name in ("transX", "transY", "transZ", "rotX", "rotY", "rotZ", "linear", "angular", "distance"):
            if prim.HasAPI(self.physics.LimitAPI, name):
                api = self.physics.LimitAPI(prim, name)
                limits[name] = [_finite(api.GetLowAttr().Get()), _finite(api.GetHighAttr().Get())]
            if prim.HasAPI(self.physics.DriveAPI, name):
                drives[name] = _finite(self.physics.DriveAPI(prim, name).GetMaxForceAttr().Get())
        return limits, drives


def _schemas(prim: Prim) -> list[str]:
    """Return the schemas that are applied to a prim, including schemas that OpenUSD does not know."""
    stated = prim.GetMetadata("apiSchemas")
    return [] if stated is None else [str(name) for name in stated.GetAppliedItems()]


def _authored(prim: Prim) -> list[str]:
    """Return the names of attributes and relations of physics that a stage states of a prim."""
    return [str(name) for name in prim.GetAuthoredPropertyNames() if str(name).startswith(OF_PHYSICS)]


def _finite(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) or abs(value) > 1e30 else float(value)


if __name__ == "__main__":
    try:
        answer = StageReader(sys.argv[1]).found()
    except Exception as error:  # the library raises errors of many kinds for wrong files
        answer = {"error": " ".join(str(error).split())[:400]}
    sys.stdout.write(json.dumps(answer))
