"""Posture and tasks of a redundant robot: they decide the joints that its pose leaves free. Plain data.

Joints are as near to the posture as they can be. Tasks are conditions on joints that hold at every pose.
"""

from __future__ import annotations

from robots.data_classes import dataclass, fields
from robots.types import Number, Vector


@dataclass(frozen=True)
class LinearTask:
    """A linear condition: the sum of coefficients times positions [rad or m] of `joints` is `value`.

    Positions count from the reference configuration. Without `value`, it is a part of the motion that is given.
    """

    name: str
    joints: tuple[str, ...]
    coefficients: tuple[Number, ...]
    value: Number | None = None


@dataclass(frozen=True)
class ArmAngle:
    """The angle [rad] of an elbow about the line from shoulder to wrist, right-handed, is `value`.

    It counts from the half plane beyond this line into which the direction `reference`, in axes of the ground, points.
    Shoulder, elbow and wrist are the origins of the bodies that the joints of these names move. Without `value`, it is
    a part of the motion that is given. Source: Kreutz-Delgado, Long, Seraji 1992.
    """

    name: str
    shoulder: str
    elbow: str
    wrist: str
    reference: Vector
    value: Number | None = None

    @property
    def joints(self) -> tuple[str, ...]:
        """The joints that it names."""
        return self.shoulder, self.elbow, self.wrist


Task = LinearTask | ArmAngle


@dataclass(frozen=True)
class RestPosture:
    """Rest posture that determines the independent joints `resolved` of a redundant chain.

    The resolved joints are where the sum of weight times squared distance of `joints` from `positions` [rad or m]
    is least. With as many `tasks` as resolved joints, they are where the tasks hold. With fewer tasks, they are
    where this sum is least among all places where the tasks hold.
    """

    resolved: tuple[str, ...]
    joints: tuple[str, ...]
    positions: tuple[Number, ...]
    weights: tuple[Number, ...]
    tasks: tuple[Task, ...] = ()

    def __repr__(self) -> str:
        """Return all fields, without empty `tasks`, so that hashes of postures without tasks do not change."""
        shown = [entry.name for entry in fields(self) if entry.name != "tasks" or self.tasks]
        return f"RestPosture({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"

    @property
    def given(self) -> tuple[str, ...]:
        """Names of tasks whose values are a part of the motion that is given."""
        return tuple(task.name for task in self.tasks if task.value is None)
