"""Simulations: microseconds of a step, and other engines at the same ones in one run.

A tree, released: MuJoCo's `rollout` and Exudyn's solver, with the same method and step. Closed loops under constant
forces: MuJoCo's `rollout` with equality constraints, which are springs there, so that both have an error beside a much
finer run; ours takes the longest step whose error is no larger. Closed loops under a controller: engines give the
inertia matrix and the bias of the spanning tree, loops are closed to rounding around them (`peers.closure`), and a
Runge-Kutta method of order four with the same controller is written out here.

    limbsweep bench simulate                                           # all of it
    python -m benchmarks.simulate                                       # many cases side by side alone
    python -m benchmarks.simulate hexapod_6rrrprr --engine Exudyn       # one closed loop over 2 s: PD of the actuators,
    python -m benchmarks.simulate delta_3rr2rrr --kind computed_torque  # or a controller of the platform
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from benchmarks.figures import FULL, CheckError, Figure, Size
from benchmarks.peers.bodies import skeleton
from benchmarks.peers.closure import CLOSED, Closure, Target
from benchmarks.peers.engines import able
from pipeline.execution import work
from pipeline.execution.blocks import block_of
from pipeline.plan.plan import plan
from pipeline.sweep.model import Sweep
from robots import catalog
from robots.controllers import Controller
from robots.model import Robot
from tasks.blocks.block import Block
from tasks.sources.commanded import moving

Array = np.ndarray
STEP = 1e-3
CLOSE = 1e-6
"""Largest difference of positions of two engines [m, rad]."""

_PLATFORM = {"kind": "quintic", "end": [0.05, 0.02, 0.03], "duration": 0.5}
_JOINTS = {"kind": "quintic", "end": 0.2, "duration": 0.5}
ROBOTS: Mapping[str, tuple[dict[str, Any], float, float]] = {
    "delta_3rr2rrr": (_PLATFORM, 2000.0, 20.0),
    "five_bar": ({**_PLATFORM, "end": [0.05, 0.0, 0.02]}, 200.0, 2.0),
    "irb6": (_JOINTS, 1.0, 0.02),
    "hexapod_6rrrprr": (_PLATFORM, 2e4, 2e2),
}
"""References and gains of a PD controller of the actuators."""

CLOSED_LOOPS = ("delta_3rr2rrr", "hexapod_6rrrprr")

_OFF = {"x": 0.01, "yaw": 0.2, "yaw_rate": -0.5}
TASK_SPACE: Mapping[str, tuple[dict[str, Any], dict[str, float], dict[str, tuple[float, float]]]] = {
    "delta_3rr2rrr": (_PLATFORM, {"x": 0.01}, {"pd": (2e4, 2e2), "computed_torque": (400.0, 40.0)}),
    "planar_3rrr": (
        {**_PLATFORM, "end": [0.05, 0.02, 0.0]},
        _OFF,
        {"pd": (400.0, 10.0), "computed_torque": (400.0, 40.0)},
    ),
    "hexapod_6rrrprr": (
        _PLATFORM,
        {"x": 0.01, "yaw": 0.05},
        {"pd": (2e4, 2e2), "computed_torque": (400.0, 40.0)},
    ),
}
"""References, offsets at the start, and gains of controllers of the platform by kind."""
TREE = "five_axis_tree"
PUSHES = {"delta_3rr2rrr": 0.5}
"""Closed loops under constant forces, which are this large."""

THEIR_STEPS, OUR_PARTS, FINE = (2e-3, 1e-3), (1, 2, 3, 4, 5, 8, 10, 16, 20, 32, 50, 100, 200), 400
"""Steps of other engines; in how many parts ours are tried, and are for the truth."""


def simulate(size: Size) -> Iterator[Figure]:
    """Yield all figures of simulations. Raises CheckError where engines differ."""
    yield from side_by_side(size)
    for name in CLOSED_LOOPS:
        yield from closed_loop(name, 2.0 if size.full else 0.02)
    for name, (_, _, kinds) in TASK_SPACE.items():
        for kind in kinds:
            yield from in_task_space(name, kind, 2.0 if size.full else 0.004)


def side_by_side(size: Size) -> Iterator[Figure]:
    """Time many cases side by side: microseconds of steps, and other engines at a tree and at a closed loop."""
    yield from steps(size)
    yield from tree(size)
    for name in PUSHES:
        yield from at_the_same_error(name, size)


def controlled(name: str, seconds: float, cases: int) -> Block:
    """Return a block of cases of a robot under its controller, with gains that differ a little."""
    motion, kp, kd = ROBOTS[name]
    gains = {"start": kp, "stop": 1.1 * kp, "num": cases} if cases > 1 else [kp]
    outputs = ["actuator_force", "joint_position" if name == "irb6" else "platform_position"]
    return _block(
        name, seconds, trajectories={"move": motion}, outputs=outputs,
        simulation={"controller": {"kind": "pd", "parameters": {"kd": kd}}, "gains": {"grid": {"kp": gains}}},
    )  # fmt: skip


def _block(name: str, seconds: float, **more: Any) -> Block:
    return whole_block({"robot": name, "time": {"stop": seconds, "step": STEP}, **more})


def whole_block(sweep: Mapping[str, Any]) -> Block:
    """Return all cases of a sweep as one block."""
    planned = plan(Sweep.from_dict(sweep))
    cells = {dim: planned.layout.sizes[dim] for dim in ("design", "friction", "trajectory")}
    return block_of(replace(planned, layout=planned.layout.moved(block=cells)), 0)


def _timed(run: Callable[[], Any]) -> tuple[float, Any]:
    """Return the seconds of one core, after a first run; and the result."""
    run()
    start = time.process_time()
    result = run()
    return time.process_time() - start, result


def steps(size: Size) -> Iterator[Figure]:
    """Time a step of one case on one core [us], under a controller, without friction: among others, and alone."""
    for cases, count in ((2048, 50), (1, 4000)) if size.full else ((16, 4), (1, 20)):
        alone, remark = (", alone", f"{count} steps") if cases == 1 else ("", f"{cases} cases side by side")
        for name in ROBOTS:
            block = controlled(name, count * STEP, cases)
            seconds, arrays = _timed(partial(work.whole, block))
            if arrays["worst_status"].any():
                raise CheckError(f"{name}: a case under its controller came to its end")
            yield Figure(f"{name}, PD, rk4{alone}", seconds / cases / count * 1e6, "us/step", remark)


def tree(size: Size) -> Iterator[Figure]:
    """Time a tree that falls from several states: other engines with equal method and step, and the time ratio."""
    cases, count = (2048, 100) if size.full else (8, 20)
    robot = catalog.build(TREE)
    random, names = np.random.default_rng(3), robot.mechanism.freedoms
    start, rates = (random.uniform(-0.3, 0.3, (cases, len(names))) for _ in range(2))
    state = {name: start[:, k].tolist() for k, name in enumerate(names)}
    state |= {f"{name}_rate": rates[:, k].tolist() for k, name in enumerate(names)}
    block = _block(TREE, count * STEP, outputs=["joint_position"], simulation={"state": {"list": state}})
    mine, arrays = _timed(partial(work.whole, block))
    position = arrays["joint_position"][0, 0, 0, :, -1, 0, : start.shape[1]]
    if np.abs(position - start).max() < CLOSE:
        raise CheckError(f"{TREE}: nothing moves")
    yield Figure(f"{TREE}, released, rk4", mine / cases / count * 1e6, "us/step", f"{cases} cases side by side")
    for engine in able("rollout"):
        model = engine.tree(skeleton(robot.mechanism), (0.0, 0.0, -9.81))
        seconds, other = _timed(partial(model.rollout, start, rates, STEP, count))
        apart = float(np.abs(other - position).max())
        _require_close(f"{TREE}, {engine.name}", apart)
        yield Figure(f"{TREE}, {engine.name}", seconds / cases / count * 1e6, "us/step", engine.ways["rollout"])
        yield Figure(f"{TREE}, {engine.name} beside ours", seconds / mine, "ratio", f"positions within {apart:.1e}")


def at_the_same_error(name: str, size: Size) -> Iterator[Figure]:
    """Time a closed loop under constant forces: other engines, and limbsweep's longest step of equal accuracy."""
    seconds, cases = 0.1, 1024 if size.full else 8
    bones = skeleton(catalog.build(name).mechanism)
    force = np.random.default_rng(4).uniform(-1.0, 1.0, (cases, len(bones.motors))) * PUSHES[name]

    def run(parts: int, cases: int = cases) -> tuple[float, Array]:
        profiles = {f"push_{k}": {"values": row.tolist()} for k, row in enumerate(force[:cases])}
        simulation = {"forces": profiles, "step": seconds / parts}
        text = {"robot": name, "time": {"stop": seconds, "step": seconds}, "outputs": ["platform_position"]}
        block = whole_block({**text, "simulation": simulation})
        taken, arrays = _timed(partial(work.whole, block))
        if arrays["worst_status"].any():
            raise CheckError(f"{name}: a case under constant forces came to its end")
        return taken, arrays["platform_position"].reshape(len(block.trajectories), -1, 3)[:, -1]

    def error(position: Array) -> float:
        return float(np.abs(position - truth).max())

    truth = run(FINE)[1]
    state = np.concatenate([*(np.ravel(part) for part in _home(name)), np.zeros(6)])
    closure = Closure(bones, np.zeros((1, bones.size)))
    q = closure.close(_target(state))[:, 0]
    for engine in able("closed_rollout"):
        model = engine.closed_loops(bones, (0.0, 0.0, -9.81))
        for step in THEIR_STEPS:
            other, position = _timed(partial(model.rollout, q, force, step, round(seconds / step)))
            _require_close(f"{name}, {engine.name}", theirs := error(position))
            parts = next(parts for parts in OUR_PARTS if error(run(parts)[1]) <= theirs)
            mine, position = run(parts)
            text = f"{theirs:.1e} m by steps of {step:g} s, ours {error(position):.1e} m by {seconds / parts:g} s"
            what = f"{name}, {engine.name} at {step:g} s beside ours"
            yield Figure(what, other / mine, "ratio", f"{cases} cases; {text}; {engine.ways['closed_rollout']}")


def closed_loop(name: str, seconds: float, engines: Collection[str] = ()) -> Iterator[Figure]:
    """Yield a closed loop under its controller beside the same one around other engines: how far apart, how long.

    engines: names of those to take; all without.
    """
    yield from _beside_others(name, "PD", controlled(name, seconds, 1), seconds, engines)


def in_task_space(name: str, kind: str, seconds: float, engines: Collection[str] = ()) -> Iterator[Figure]:
    """Yield the same of a controller in the space of the platform, from beside its reference."""
    motion, offset, gains = TASK_SPACE[name]
    kp, kd = gains[kind]
    controller = {"kind": kind, "space": "task", "parameters": {"kp": kp, "kd": kd}}
    block = _block(
        name, seconds, trajectories={"move": motion}, outputs=["platform_position", "platform_rotation"],
        simulation={"controller": controller, "state": {"list": {key: [value] for key, value in offset.items()}}},
    )  # fmt: skip
    yield from _beside_others(name, f"{kind} of the platform", block, seconds, engines)


def _beside_others(
    name: str, what: str, block: Block, seconds: float, engines: Collection[str]
) -> Iterator[Figure]:  # fmt: skip
    """Yield a block of one case beside the same around other engines."""
    mine, arrays = _timed(partial(work.whole, block))
    if arrays["worst_status"].any():
        raise CheckError(f"{name}: under its controller it came to its end")
    count = len(block.times) - 1
    for engine in (engine for engine in able("tree_terms") if not engines or engine.name in engines):
        peer = Peer.of(name, engine.tree)
        start = time.process_time()
        states = peer.run(block, count)
        taken = time.process_time() - start
        apart = float(np.abs(states[:, :3] - arrays["platform_position"].reshape(-1, 3)).max())
        if "platform_rotation" in arrays:
            turned = np.abs(states[:, 3:12] - arrays["platform_rotation"].reshape(-1, 9)).max()
            apart = max(apart, float(turned))
        _require_close(f"{name}, {engine.name}", apart)
        text = f"positions within {apart:.1e} m over {seconds:g} s, loops closed to {CLOSED:g} in the other"
        yield Figure(f"{name}, {what}, beside {engine.name}", apart, "m", text)
        one = f"one case in both; {engine.ways['tree_terms']}"
        yield Figure(f"{name}, {what}, {engine.name} beside ours", taken / mine, "ratio", one)


def _require_close(what: str, apart: float) -> None:
    if not apart <= CLOSE:
        raise CheckError(f"{what}: positions are {apart:.2e} apart; expected at most {CLOSE:g}")


@dataclass
class Peer:
    """A closed loop around an engine that knows trees, in NumPy, for one case; translations and turns of a platform."""

    robot: Robot
    closure: Closure
    terms: Callable[[Array, Array], tuple[Array, Array]]

    @classmethod
    def of(cls, name: str, engine: Callable[..., Any]) -> Peer:
        """Return the peer at the reference pose of a robot of the catalogue."""
        robot = catalog.build(name)
        bones = skeleton(robot.mechanism)
        tree = engine(bones, (0.0, 0.0, -9.81))
        return cls(robot, Closure(bones, np.zeros((1, bones.size))), tree.terms)

    def run(self, block: Block, count: int) -> Array:
        """Return the states at all steps (step + 1, 18): position, rotation, twist."""
        reference, (controller, gains) = _reference(block, count), _controller(block)
        state = _start(block, reference[0])
        path = [state]
        for k in range(count):
            if controller.space == "actuator":
                here, there = (self._actuators(s) for s in (state, reference[k, :18]))
                force = gains["kp"] * (there[0] - here[0]) + gains["kd"] * (there[1] - here[1])
            else:
                force = self._task_force(state, reference[k], controller.kind, gains)
            state = self._step(state, force)
            path.append(state)
        return np.array(path)

    def _task_force(self, state: Array, wanted: Array, kind: str, gains: Mapping[str, float]) -> Array:
        """Return the forces of a controller of the platform: a wrench, or the acceleration that it commands.

        The wrench goes through the rates of actuators for unit twists, J^T u = f; accelerations are linear in forces.
        """
        free = list(self.closure.skeleton.freedoms)
        position, rotation, twist = _parts(state)
        to, turned, to_twist = _parts(wanted[:18])
        turn = 0.5 * np.cross(rotation.T, turned.T).sum(axis=0)
        along = gains["kp"] * np.concatenate([turn, to - position]) + gains["kd"] * (to_twist - twist)
        if kind == "pd":
            rates = [self._actuators(np.concatenate([state[:12], unit]))[1] for unit in np.eye(6)[free]]
            return np.asarray(np.linalg.solve(np.array(rates), along[free]))
        count = len(self.closure.skeleton.motors)
        still = self._rate(state, np.zeros(count))[12:]
        changes = np.array([self._rate(state, unit)[12:] - still for unit in np.eye(count)])
        return np.asarray(np.linalg.solve(changes[:, free].T, (wanted[18:] + along - still)[free]))

    def _actuators(self, state: Array) -> tuple[Array, Array]:
        """Return the positions and rates of the actuators."""
        _, q, qd = self._joints(state)
        motors = list(self.closure.skeleton.motors)
        return q[motors, 0], qd[0, motors]

    def _joints(self, state: Array) -> tuple[Target, Array, Array]:
        target = _target(state)
        q = self.closure.close(target)
        qd, _, _ = self.closure.motion(target, q)
        return target, q, qd

    def _rate(self, state: Array, force: Array) -> Array:
        _, q, qd = self._joints(state)
        mass, bias = self.terms(np.ascontiguousarray(q.T), qd)
        change = np.zeros(6)
        change[list(self.closure.skeleton.freedoms)] = self.closure.accelerations(q, qd, mass, bias, force[None])[0]
        _, rotation, twist = _parts(state)
        spin = np.cross(np.eye(3), twist[:3])
        return np.concatenate([twist[3:], (spin @ rotation).ravel(), change])

    def _step(self, state: Array, force: Array) -> Array:
        """Integrate by the fourth-order Runge-Kutta method under held forces; make the rotation orthogonal again."""
        rates = [self._rate(state, force)]
        for share in (0.5, 0.5, 1.0):
            rates.append(self._rate(state + share * STEP * rates[-1], force))
        a, b, c, d = rates
        state = state + STEP / 6.0 * (a + 2.0 * (b + c) + d)
        u, _, v = np.linalg.svd(state[3:12].reshape(3, 3))
        state[3:12] = (u @ v).ravel()
        return state


def _target(state: Array) -> Target:
    """Return one state (18,) of a platform, without acceleration."""
    position, rotation, twist = (np.ascontiguousarray(part[..., None]) for part in _parts(state))
    return Target(position, rotation, twist, np.zeros((6, 1)))


def _home(name: str) -> tuple[Array, Array]:
    """Return the position and rotation of the reference pose."""
    home = catalog.build(name).mechanism.platform.home
    return np.array(home.position, dtype=float), np.array(home.rotation, dtype=float)


def _parts(state: Array) -> tuple[Array, Array, Array]:
    return state[:3], state[3:12].reshape(3, 3), state[12:]


def _reference(block: Block, count: int) -> Array:
    """Return the states of the reference at all steps, and accelerations (step, 24)."""
    times = np.arange(count + 1) * STEP
    motion = moving(block.family, block.trajectories[0], times, block.origin)
    home = np.array(block.family.reference.platform.home.rotation, dtype=float)
    rotation = np.broadcast_to(np.asarray(motion.get("rotation", home)), (len(times), 3, 3)).reshape(-1, 9)
    parts = (np.asarray(motion[name]) for name in ("position", "twist", "acceleration"))
    position, twist, change = parts
    return np.concatenate([position, rotation, twist, change], axis=1)


def _controller(block: Block) -> tuple[Controller, dict[str, float]]:
    """Return the controller of a block of one case, and its parameters by name."""
    assert block.simulation is not None
    controller = block.simulation.simulation.controller
    assert controller is not None
    return controller, dict(zip(controller.parameters, block.simulation.gains[0].tolist(), strict=True))


def _start(block: Block, reference: Array) -> Array:
    """Return the state that a block of one case starts from: its reference, moved by the offsets of its state."""
    assert block.simulation is not None
    offset = dict(zip(block.simulation.offsets, block.simulation.state[0].tolist(), strict=True))
    position, rotation, twist = _parts(reference[:18])
    moved, angles = ([offset.get(name, 0.0) for name in names] for names in (("x", "y", "z"), ("roll", "pitch", "yaw")))
    rates = [offset.get(f"{name}_rate", 0.0) for name in ("roll", "pitch", "yaw", "x", "y", "z")]
    turned = Rotation.from_euler("xyz", angles).as_matrix() @ rotation
    return np.concatenate([position + moved, turned.ravel(), twist + rates])


def main() -> int:
    """Print how far a closed loop is from the same one around other engines, or figures of many cases."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.simulate", description="A closed loop in two engines.")
    parser.add_argument("robot", nargs="?", choices=sorted({*CLOSED_LOOPS, *TASK_SPACE}))
    parser.add_argument(
        "--kind", choices=("pd", "computed_torque"), help="a controller of the platform, not of actuators"
    )
    parser.add_argument("--engine", action="append", default=[], choices=[engine.name for engine in able("tree_terms")])
    parser.add_argument("--seconds", type=float, default=2.0)
    options = parser.parse_args()
    if not options.robot:
        figures = side_by_side(FULL)
    elif options.kind:
        figures = in_task_space(options.robot, options.kind, options.seconds, options.engine)
    else:
        figures = closed_loop(options.robot, options.seconds, options.engine)
    for figure in figures:
        print(f"{figure.name}: {figure.value:.2g} {figure.unit}; {figure.remark}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
