"""Payloads fixed to bodies of a robot in some recordings, and base parameters with those of unknown ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import block_diag

from applications.identification.estimation.base import BaseParameters, from_matrix
from applications.identification.estimation.states import random_motion
from robots.data_classes import dataclass
from robots.model import Robot
from robots.parameter_errors import ParameterError, nearest
from tasks.dynamics.inertial_parameters import BODY, SIZE, Column, shared_columns
from tasks.dynamics.records import GRAVITY
from tasks.dynamics.regressor import regressor


@dataclass(frozen=True)
class Payload:
    """Payload fixed to a body in a recording: ten parameters about the origin of the body's frame, None: unknown.

    Recordings with the same unknown payload use the same name. mass [kg]: known of a payload whose other nine
    parameters are unknown.
    """

    name: str
    body: str
    values: tuple[float, ...] | None = None
    mass: float | None = None

    @property
    def columns(self) -> tuple[Column, ...]:
        """Columns of the inertia of the payload."""
        return tuple(Column(self.name, parameter, unit) for parameter, unit in BODY.items())

    def places(self, columns: Sequence[Column]) -> list[int]:
        """Return the numbers of the columns of its body. Raises ParameterError for a body that has none."""
        numbers = [k for k, column in enumerate(columns) if column.owner == self.body and column.parameter in BODY]
        if len(numbers) != SIZE:
            owners = dict.fromkeys(column.owner for column in columns if column.parameter in BODY)
            raise ParameterError(
                f"payload: got the body {self.body!r}; expected one with inertia; {nearest(self.body, owners)}"
            )
        return numbers


def payload_bodies(robot: Robot) -> tuple[str, ...]:
    """Return the bodies that a payload can be fixed to: those with inertia that no copy of a limb has as well."""
    columns, places = shared_columns(robot.family)
    single = {k for k in places if places.count(k) == 1}
    return tuple(dict.fromkeys(c.owner for k, c in enumerate(columns) if k in single and c.parameter in BODY))


def payload_places(robot: Robot, columns: Sequence[Column]) -> list[int]:
    """Return the places of the columns of the platform, or of a chain's last body; empty where it has no inertia."""
    bodies = payload_bodies(robot)
    return Payload("", bodies[-1]).places(columns) if bodies else []


def base_with_payloads(
    base: BaseParameters,
    robot: Robot,
    payloads: Sequence[Payload],
    columns: Sequence[Column],
    gravity: tuple[float, float, float] = GRAVITY,
) -> BaseParameters:
    """Return base parameters, then those of unknown payloads: recordings without payload determine the others."""
    moving = random_motion(robot, 4 * SIZE)
    body_columns = shared_columns(robot.family)[0]
    whole = regressor(robot, shared=True, gravity=gravity, **moving).matrix
    groups, independent, start = [base.groups], list(base.independent), base.groups.shape[1]
    for payload in payloads:
        # a mass that is known is no parameter: its column stays and is in no group
        free = slice(0 if payload.mass is None else 1, SIZE)
        rows = whole[:, :, payload.places(body_columns)[free]].reshape(-1, SIZE - free.start)
        part = from_matrix(rows[np.isfinite(rows).all(axis=1)], [column.name for column in payload.columns[free]])
        independent += [start + free.start + k for k in part.independent]
        groups.append(np.pad(part.groups, ((0, 0), (free.start, 0))))
        start += SIZE
    return BaseParameters(
        tuple(independent), block_diag(*groups), tuple(column.name for column in columns), base.margin
    )
