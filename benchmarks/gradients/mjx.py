"""Cost of a gradient of inverse dynamics beside MJX, the JAX version of MuJoCo: the same arm, the same states.

    python -m benchmarks.gradients.mjx [ROBOT] [--samples N]

Not among the extras: `pip install mujoco-mjx` brings a MuJoCo of its own version. The number is the sum of squared
torques of all samples; its gradient is by masses, centres and inertias of all bodies and by the motion in MJX, and by
all parameters of the robot and the motion here. Times are processor seconds, the least of several, compiled before.
Friction and drives are left out. Both gradients by the motion are compared.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import limbsweep as ls
from benchmarks.figures import heading, surroundings
from benchmarks.gradients.__main__ import least_seconds
from benchmarks.peers.bodies import as_tree, skeleton
from benchmarks.peers.mujoco import Tree
from robots import catalog
from robots.model import Robot
from tasks.dynamics.records import GRAVITY

OF_BODIES = ("body_mass", "body_ipos", "body_inertia")
"""Fields of a model of MJX that gradients are taken by."""

MOTION = ("q", "qd", "qdd")


def ours(robot: Robot, states: dict[str, Any]) -> tuple[float, float, dict[str, np.ndarray]]:
    """Return processor seconds of values, and of values with their gradient, and the gradient."""
    parameters = dict(robot.values)

    def gradient() -> dict[str, np.ndarray]:
        at = ls.differentiate(ls.inverse_dynamics, robot, parameters=parameters, **states)
        return at.vjp({"force": 2.0 * at.results["force"]})

    found = gradient()
    value, both = least_seconds(lambda: ls.inverse_dynamics(robot, **states).force, gradient)
    return value, both, found


def of_mjx(robot: Robot, states: dict[str, Any]) -> tuple[float, float, dict[str, np.ndarray]]:
    """Return the same of MJX, compiled."""
    import jax
    from mujoco import mjx

    jax.config.update("jax_enable_x64", True)
    model = mjx.put_model(Tree(skeleton(robot.mechanism), GRAVITY).model)
    data = mjx.make_data(model)

    def total(bodies: dict[str, Any], *motion: Any) -> Any:
        moved = model.replace(**bodies)

        def one(q: Any, qd: Any, qdd: Any) -> Any:
            return mjx.inverse(moved, data.replace(qpos=q, qvel=qd, qacc=qdd)).qfrc_inverse

        return (jax.vmap(one)(*motion) ** 2).sum()

    bodies = {name: getattr(model, name) for name in OF_BODIES}
    arrays = [jax.numpy.asarray(states[name]) for name in MOTION]
    value, gradient = jax.jit(total), jax.jit(jax.value_and_grad(total, argnums=(0, 1, 2, 3)))
    jax.block_until_ready(value(bodies, *arrays))
    _, (_, *by_motion) = jax.block_until_ready(gradient(bodies, *arrays))
    one, both = least_seconds(*(lambda f=f: jax.block_until_ready(f(bodies, *arrays)) for f in (value, gradient)))
    return one, both, dict(zip(MOTION, map(np.asarray, by_motion), strict=True))


def main(arguments: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("robot", nargs="?", default="ur5e")
    parser.add_argument("--samples", type=int, default=2000)
    options = parser.parse_args(arguments)
    family = catalog.family(options.robot)
    robot = Robot.of(as_tree(family, f"{options.robot}_tree"), {})
    shape = (3, options.samples, len(robot.mechanism.freedoms))
    states = dict(zip(MOTION, np.random.default_rng(3).uniform(-1.0, 1.0, shape), strict=True))
    print(heading(surroundings()))
    rows = {"limbsweep": ours(robot, states), "MJX": of_mjx(robot, states)}
    print(f"{options.robot}, {options.samples} samples, {len(robot.values)} parameters here, "
          f"{10 * len(robot.mechanism.freedoms)} numbers of bodies there")  # fmt: skip
    for name, (value, gradient, _) in rows.items():
        size = 1e6 / options.samples
        print(f"{name:<10} value {value * size:8.3f} us, with its gradient {gradient * size:8.3f} us")
    for name in MOTION:
        mine, other = (rows[who][2][name] for who in rows)
        print(f"by {name}: largest difference {np.abs(mine - other).max() / np.abs(mine).max():.1e}")


if __name__ == "__main__":
    main()
