"""Robots, states and inputs that the tests of the tasks package share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from robots import catalog
from robots.geometry import diagonal, point, shifted
from robots.model import PLATFORM, Closure, Family, Frame, Inertia, Instance, Limb, Link, Mechanism, Platform, Robot
from robots.parameters import Parameter
from robots.quantities import QUANTITIES, names, needing, of_criteria
from robots.types import BASE, IDENTITY, TRANSLATION, TWIST, ZERO
from tasks.features.table import request
from tasks.kernels.kernel import kernel, padded
from tasks.kernels.keys import Indexed, Values, indexed
from tasks.kernels.program import Program
from tasks.mechanics.families import mount_values, structure_of
from tasks.mechanics.structure import with_parameters
from tasks.stages import stages
from tasks.stages.platform import platform_program
from tests.reference.delta_bodies import parse_delta
from tests.reference.delta_motion import extension
from tests.tasks.bits import padded_last

DELTAS = ("delta_3rr2rrr", "delta_rl5_1450")
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


def scaled(name: str, rng: np.random.Generator, share: float = 0.2) -> Robot:
    """A robot of a family with every parameter changed a little."""
    values = catalog.build(name).values
    return catalog.build(name, **{k: v * rng.uniform(1 - share, 1 + share) for k, v in values.items()})


def home(robot: Robot) -> np.ndarray:
    """Reference position of the platform (3,)."""
    return np.array(robot.mechanism.platform.home.position)


def states(robot: Robot, count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Positions in the workspace, away from stretched arms, velocities and accelerations, (count, 3) each."""
    rng, delta = np.random.default_rng(seed), parse_delta(dict(robot.values))
    positions: list[np.ndarray] = []
    while len(positions) < count:
        position = home(robot) + rng.uniform((-0.35, -0.35, -0.2), (0.35, 0.35, 0.05)) * delta.rod_length
        if np.abs(extension(delta, position)).max() < 0.8:
            positions.append(position)
    return np.array(positions), rng.normal(size=(count, 3)) * 2.0, rng.normal(size=(count, 3)) * 40.0


def twist(linear: np.ndarray) -> np.ndarray:
    """Twists (..., 6) of a platform that does not turn."""
    return np.concatenate([np.zeros_like(linear), linear], axis=-1)


METRICS = tuple(
    name
    for name in names("assembly")
    if QUANTITIES[name].reduction and name not in (*needing("mass matrix"), *needing("constraints"), *of_criteria())
)


def limb_inputs(family: Family, values: Mapping[str, Any], instance: int, motion: np.ndarray) -> dict[str, np.ndarray]:
    """Inputs of a limb's kernel for parameters (cases,) and a motion (trajectories or 1, size, padded samples)."""
    return {
        "parameters": with_parameters(family, values),
        "mount": mount_values(family, values)[instance],
        "gravity": np.array([[0.3, -0.4, -9.81]]),
        "motion": motion,
    }


def whole_robot(
    family: Family, values: Mapping[str, Any], motion: np.ndarray, samples: int
) -> list[tuple[Program, Values]]:
    """Programs of a robot and the inputs of each, limbs first; the assembly gets the results of the others."""
    count = len(structure_of(family).mechanism.instances)
    asked = request(family, (*names("limb"), *METRICS))
    program = stages.limb(asked, 0).program
    steps = [(program, limb_inputs(family, values, k, motion)) for k in range(count)]
    shares = [kernel(program)(inputs, samples) for program, inputs in steps]
    body = {name: steps[0][1][name] for name in ("parameters", "gravity", "motion")}
    steps.append((platform_program(family), body))
    joined: Values = {
        "motion": motion,
        "parameters": with_parameters(family, values),
        "platform_wrench": kernel(steps[-1][0])(body, samples)["platform_wrench"],
    }
    joined |= {Indexed("mount", k): mount for k, mount in enumerate(mount_values(family, values))}
    for k, share in enumerate(shares):
        joined |= indexed(k, {name: share[name] for name in ("wrench", "jacobian", "home_jacobian", "status")})
    return [*steps, (stages.assembly(asked).program, joined)]


def motion_input(parts: Sequence[np.ndarray]) -> np.ndarray:
    """The `motion` of a translating platform (1, 9, padded samples) from three arrays (samples, 3)."""
    flat = np.concatenate(parts, axis=1).T
    return np.ascontiguousarray(padded_last(flat, padded(flat.shape[1])))[None]


# --- a hexapod: universal, prismatic, spherical, six freedoms, nothing of a Delta -----------------------------------


def _leg() -> Limb:
    massless = point(0.0)
    links = (
        Link("u1", "fork", BASE, "revolute", X, Frame(), massless),
        Link("u2", "cylinder", 0, "revolute", Y, Frame(), massless),
        Link("p", "piston", 1, "prismatic", Z, shifted((0.0, 0.0, 0.9)), massless),
    )
    return Limb("UPS", links, (), (Closure("s", "spherical", 2, Frame(), PLATFORM, Frame()),), ("p",))


def _hexapod(p: Mapping[str, Any]) -> Mechanism:
    angles = np.deg2rad([-10.0, 10.0, 110.0, 130.0, 230.0, 250.0])
    above = np.deg2rad([-50.0, 50.0, 70.0, 170.0, 190.0, 290.0])

    def ring(radius: Any, angle: float) -> Any:
        return (radius * float(np.cos(angle)), radius * float(np.sin(angle)), 0.0)

    instances = tuple(
        Instance(f"leg{k}", 0, shifted(ring(p["base_radius"], a)), shifted(ring(p["platform_radius"], b)))
        for k, (a, b) in enumerate(zip(angles, above, strict=True))
    )
    inertia = Inertia(p["mass"], (0.02, -0.01, 0.05), diagonal(0.3, 0.4, 0.5))
    return Mechanism((_leg(),), instances, Platform(inertia, TWIST, shifted((0.0, 0.0, 0.9))))


HEXAPOD = Family(
    "hexapod",
    "hexapod with massless legs",
    "made up",
    (
        Parameter("base_radius", "m", 0.6, 0.1, 2.0),
        Parameter("platform_radius", "m", 0.35, 0.1, 2.0),
        Parameter("mass", "kg", 12.0, 0.1, 100.0),
    ),
    _hexapod,
)


def serial(axes: Sequence[tuple[float, float, float]], tip: Closure, actuated: tuple[str, ...] = ("0",)) -> Mechanism:
    """One limb of revolute joints 0.3 m apart along z, under a platform that translates."""
    links = tuple(
        Link(str(k), f"body{k}", k - 1, "revolute", axis, shifted((0.0, 0.0, 0.3 if k else 0.0)), point(1.0))
        for k, axis in enumerate(axes)
    )
    limb = Limb("chain", links, (), (tip,), actuated)
    instance = Instance("one", 0, Frame(IDENTITY, ZERO), Frame())
    top = shifted((0.0, 0.0, 0.3 * len(axes)))
    return Mechanism((limb,), (instance,), Platform(point(1.0), TRANSLATION, top))
