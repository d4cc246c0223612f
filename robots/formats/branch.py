"""Other assembly of a robot: a new reference configuration, from which everything counts.

Working modes are the solutions of limbs for one pose of the platform (an elbow to the other side), assembly modes the
parts of its workspace that singularities of the platform separate. Both are requested by name, `other`, which is the
opposite sign of the determinant that is zero between the two; or by rough numbers: positions of joints, pose of the
platform. Loops are closed from there once, for given values of the parameters; kernels start from there for other
values, so that their results are on this branch or have a status.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from robots.arguments import check_arguments, shown
from robots.data_classes import dataclass, replace
from robots.formats.assembly import Setting, close_facing, counted_from
from robots.formats.description import Description
from robots.formats.poses import rows, vector
from robots.formats.working_modes import (
    CLOSED,
    BranchError,
    Mode,
    NamedModes,
    RoughConfiguration,
    brought,
    other_assembly,
    other_solution,
    way,
)
from robots.model import Family, Frame, Instance, Limb, Mechanism, Robot
from robots.parameter_errors import nearest
from robots.types import Number

SAME = 1e-9
"""Difference up to which positions of joints count as equal."""
SINGULAR = 1e-4
"""Least singular value of the closures over joints that follow, as a share of the largest, of a reference pose."""
HELD = 1e-9
"""Directions [m, rad] of a platform that its limbs hold."""


@dataclass(frozen=True, eq=False)
class Branched(Description):
    """A family whose limbs are assembled in another way.

    `groups` has for each limb of the robot the number of its assembled limb; `assembled` has for each assembled limb
    the number of the limb that it copies, and `reference` the positions of its joints.
    """

    base: Family | None = None
    asked: tuple[object, ...] = ()
    home: Frame | None = None
    groups: tuple[int, ...] = ()
    assembled: tuple[tuple[str, int], ...] = ()

    @property
    def in_file(self) -> Description | None:
        """The robot without its branch, which is a section of its own."""
        base = self.base.assemble if self.base else None
        return base if isinstance(base, Description) else None

    @property
    def digest(self) -> str:
        """SHA-256 of the request: the result may differ in its last bits between machines."""
        source = self.in_file.digest if self.in_file else self.name
        return hashlib.sha256(repr((source, self.asked)).encode()).hexdigest()

    def __call__(self, values: Mapping[str, Number]) -> Mechanism:
        """Return the mechanism for values of the parameters: floats, arrays or symbols."""
        assert self.base is not None
        whole = self.base.assemble(values)
        limbs = tuple(replace(whole.limbs[k], name=name) for name, k in self.assembled)
        pairs = zip(whole.instances, self.groups, strict=True)
        instances = tuple(replace(instance, limb=group) for instance, group in pairs)
        platform = whole.platform if self.home is None else replace(whole.platform, home=self.home)
        return counted_from(replace(whole, limbs=limbs, instances=instances, platform=platform), self.reference)


Positions = Mapping[str, float]
"""Positions [rad or m] by joint."""


@check_arguments
def on_branch(
    robot: Robot,
    *,
    joints: Mapping[str, Positions] | None = None,
    position: ArrayLike | None = None,
    rotation: ArrayLike | None = None,
    working: Mapping[str, Mode] | None = None,
    assembly: Mode = "usual",
) -> Robot:
    """Return the robot in another assembly: in modes by name, or near rough positions of joints and a pose.

    joints: positions [rad or m] by limb and joint, counted as in `robot`; joints that are absent are computed, and a
    limb that is absent keeps its assembly. position (3,), rotation (3, 3): the new reference pose of the platform
    (absent: unchanged). working: `other` for limbs that take their other solution, such as an elbow to the other side,
    see `robots.formats.working_modes`; assembly: `other` for the other pose of the platform at the same positions of
    the actuators. All variables of the result, including actuator positions, count from its own reference
    configuration. Raises BranchError.

        >>> usual = ls.robots.build("five_bar")
        >>> inward = ls.robots.on_branch(usual, working={"left": "other"})  # another elbow of the left arm
    """
    modes = modes_of(robot.family.reference, working or {}, assembly)
    configuration = assembly_of(robot.family.reference, joints or {}, position, rotation, modes)
    return Robot(branched(robot.family, configuration, robot.values, modes).family, robot.values)


def modes_of(mechanism: Mechanism, working: Mapping[str, str], assembly: str = "usual") -> NamedModes:
    """Return the modes by name, checked against a mechanism. Raises BranchError."""
    names = [instance.name for instance in mechanism.instances]
    for limb, mode in working.items():
        if limb not in names:
            raise BranchError(("working", str(limb)), repr(limb), "a limb of the robot", _advice(limb, names))
        if mode not in get_args(Mode):
            raise BranchError(("working", limb), repr(mode), "usual or other")
    if assembly not in get_args(Mode):
        raise BranchError(("assembly",), shown(assembly), "usual or other")
    limbs = tuple(name for name in names if working.get(name) == "other")
    if mechanism.is_chain and (limbs or assembly == "other"):
        key = "working" if limbs else "assembly"
        hint = "Give positions of its joints, under joints."
        raise BranchError((key,), "a mode of a chain", "none, as no platform tells its modes apart", hint)
    return NamedModes(limbs, assembly == "other")


def assembly_of(
    mechanism: Mechanism,
    joints: Mapping[str, Mapping[str, float]],
    position: ArrayLike | None = None,
    rotation: ArrayLike | None = None,
    modes: NamedModes | None = None,
) -> RoughConfiguration:
    """Return a rough configuration, checked against a mechanism. Raises BranchError."""
    if not joints and position is None and rotation is None and modes in (None, NamedModes()):
        expected = "joints, a pose of the platform, or another mode"
        raise BranchError((), "nothing", expected, "Leave it out for the usual branch.")
    if modes is not None and modes.platform and (joints or position is not None or rotation is not None):
        hint = "The pose of another assembly mode is found, and joints follow from it."
        raise BranchError(("assembly",), "another mode beside joints or a pose", "one of these", hint)
    home = None
    if position is not None or rotation is not None:
        home = _home(mechanism, position, rotation)
    _check_joints(mechanism, joints)
    for instance in mechanism.instances:
        if any(drive.position is not None for drive in mechanism.limbs[instance.limb].drives):
            hint = "Such positions count from the present reference configuration."
            raise BranchError((), "a robot whose drives follow an expression of joints", "other drives", hint)
    rough_joints = tuple(
        (limb, tuple((joint, float(x)) for joint, x in values.items())) for limb, values in joints.items()
    )
    return RoughConfiguration(rough_joints, home)


def _check_joints(mechanism: Mechanism, joints: Mapping[str, Mapping[str, float]]) -> None:
    """Raise BranchError for rough positions that are no numbers, or of joints or limbs that the robot lacks."""
    names = [instance.name for instance in mechanism.instances]
    for limb, values in joints.items():
        if limb not in names:
            raise BranchError(("joints", str(limb)), repr(limb), "a limb of the robot", _advice(limb, names))
        if not isinstance(values, Mapping):
            raise BranchError(("joints", limb), shown(values), "positions by joint")
        tree = [link.joint for link in mechanism.limbs[mechanism.instances[names.index(limb)].limb].links]
        for joint, value in values.items():
            path = ("joints", limb, str(joint))
            if joint not in tree:
                raise BranchError(path, repr(joint), "a joint of its tree", _advice(joint, tree))
            if not isinstance(value, int | float) or not np.isfinite(value) or isinstance(value, bool):
                raise BranchError(path, repr(value), "a finite number [rad or m]")


def _advice(name: str, names: Sequence[str]) -> str:
    hint = nearest(str(name), names)
    return hint[:1].upper() + hint[1:] + ("" if hint.endswith("?") else ".")


def _home(mechanism: Mechanism, position: ArrayLike | None, rotation: ArrayLike | None) -> Frame:
    """Return the new reference pose: one that the platform can move to."""
    if mechanism.is_chain:
        key = "position" if position is not None else "rotation"
        raise BranchError((key,), "a pose", "none for a chain, which has no platform", "Give its joints.")
    platform = mechanism.platform
    old_place, old_turn = (np.array(x, dtype=float) for x in (platform.home.position, platform.home.rotation))
    place = old_place if position is None else np.asarray(position, dtype=float)
    turn = old_turn if rotation is None else np.asarray(rotation, dtype=float)
    for key, value, shape in (("position", place, (3,)), ("rotation", turn, (3, 3))):
        if value.shape != shape or not np.isfinite(value).all():
            raise BranchError((key,), f"an array of shape {value.shape}", f"finite numbers of shape {shape}")
    if np.abs(turn @ turn.T - np.eye(3)).max() > 1e-6 or np.linalg.det(turn) < 0:
        raise BranchError(("rotation",), "a matrix that is no rotation", "rows of a rotation (3, 3)")
    ways = {"rotation": Rotation.from_matrix(turn @ old_turn.T).as_rotvec(), "position": place - old_place}
    for (key, gone), names in zip(ways.items(), (("wx", "wy", "wz"), ("vx", "vy", "vz")), strict=True):
        for name, value in zip(names, gone, strict=True):
            if name not in platform.mobility and abs(value) > HELD:
                hint = f"It moves along {', '.join(platform.mobility)}."
                raise BranchError((key,), f"{value:.3g} along {name}", "a pose that the platform can move to", hint)
    return Frame(rows(turn), vector(place))


def branched(
    family: Family, configuration: RoughConfiguration, values: Mapping[str, float], modes: NamedModes | None = None
) -> Branched:
    """Return the family on a branch, whose loops are closed for these values of its parameters. Raises BranchError."""
    modes, source = modes or NamedModes(), configuration
    if family.signals:
        hint = "Put the loads on the robot that is on its branch."
        raise BranchError((), "a robot whose loads change with time", "one without such loads", hint)
    mechanism = family.assemble(values)
    if modes.platform:
        configuration = other_assembly(mechanism)
    closed: list[tuple[int, np.ndarray]] = []
    groups: list[int] = []
    for instance in mechanism.instances:
        positions = _closed_limb(mechanism, instance, configuration, another=instance.name in modes.limbs)
        same = (k for k, (of, x) in enumerate(closed) if of == instance.limb and np.abs(x - positions).max() < SAME)
        groups.append(next(same, len(closed)))
        if groups[-1] == len(closed):
            closed.append((instance.limb, positions))
    names = list(_names([mechanism.limbs[of].name for of, _ in closed]))
    reference = tuple(
        (name, tuple((link.joint, float(x)) for link, x in zip(mechanism.limbs[of].links, positions, strict=True)))
        for name, (of, positions) in zip(names, closed, strict=True)
    )
    return Branched(
        family.name,
        family.title,
        family.source,
        family.parameters,
        (),
        family.reference,
        reference=reference,
        base=family,
        asked=(source, *((modes,) if modes != NamedModes() else ()), tuple(sorted(values.items()))),
        home=configuration.home,
        groups=tuple(groups),
        assembled=tuple((name, of) for name, (of, _) in zip(names, closed, strict=True)),
    )


def _closed_limb(
    mechanism: Mechanism, instance: Instance, configuration: RoughConfiguration, *, another: bool
) -> np.ndarray:
    """Return the positions of all joints of a limb, closed near a rough configuration. Raises BranchError.

    another: take the other solution of the limb's working mode.
    """
    limb, place = mechanism.limbs[instance.limb], ("joints", instance.name)
    home, moved_home = mechanism.platform.home, configuration.home
    poses = [home] if moved_home is None else list(way(home, moved_home))
    settings = [Setting(limb, instance, pose, counted=True) for pose in poses]
    positions, error = _assembled(settings, limb, dict(dict(configuration.joints).get(instance.name, ())))
    if error > CLOSED:
        hint = "Give positions of more joints, nearer to where they are."
        got = f"positions from which limb {instance.name} stays {error:.1g} apart (m, or cosines)"
        raise BranchError(place, got, "positions near to where its loops close", hint)
    if not settings[-1].facing(positions):
        hint = "Give closer positions of more joints, also of the joints of a platform's coordinates."
        got = f"positions from which limb {instance.name} closes with axes that point against each other alone"
        raise BranchError(place, got, "positions near to where axes point the same way", hint)
    if limb.coordinates and (ratio := _conditioning(settings[-1], positions, mechanism.freedoms)) < SINGULAR:
        hint = "Move the rough positions, or name other joints under redundancy of the robot."
        got = f"a singular configuration, where {', '.join(mechanism.freedoms)} do not determine the other joints"
        rule = f"one whose least singular value is at least {SINGULAR:g} of the largest; it is {ratio:.1g}"
        raise BranchError(place, got, rule, hint)
    return other_solution(settings[-1], positions, instance.name) if another else positions


def _assembled(settings: Sequence[Setting], limb: Limb, rough: Mapping[str, float]) -> tuple[np.ndarray, float]:
    """Return positions of all joints near rough ones, and the open loops; without rough ones the assembly itself."""
    if not rough:
        return brought(settings)
    values = np.zeros(len(limb.links))
    named = [k for k, link in enumerate(limb.links) if link.joint in rough]
    values[named] = [rough[limb.links[k].joint] for k in named]
    return close_facing(settings[-1], values, named)


def _conditioning(setting: Setting, positions: np.ndarray, freedoms: Sequence[str]) -> float:
    """Return the least singular value of the closures over the joints that are not given, as a share of the largest."""
    following = [k for k, link in enumerate(setting.limb.links) if link.joint not in freedoms]
    values = np.linalg.svd(setting.slopes(positions)[:, following], compute_uv=False)
    return float(values[-1] / values[0])


def _names(limbs: Sequence[str]) -> Iterator[str]:
    """Yield a name for each assembled limb: that of the limb, numbered from the second copy on."""
    taken: list[str] = []
    for name in limbs:
        count, new = 1, name
        while new in taken:
            count += 1
            new = f"{name}_{count}"
        taken.append(new)
        yield new
