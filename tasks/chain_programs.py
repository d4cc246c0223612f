"""The program of a chain's motion with friction: all that a step in time asks for at one state.

Inputs: `parameters`, `mount`, `gravity`, `friction` (parameters of all groups) per case; per sample `q`, `qd`
(freedom,), `force` (actuator,), and `stuck`, `direction`, `memory` (joint,) of `chain_forward.Modes`; of a linearly
implicit stage also `scale` (1,), `less_rate` (freedom,), `less_memory` (joint,).
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from robots.friction_groups import FrictionGroup
from robots.model import Family
from robots.status import Status
from tasks import actuation, joint_friction
from tasks.algebra import array, where
from tasks.chain_forward import Modes, Pushed, Stage
from tasks.chain_loads import Loads
from tasks.friction_forward import Braked
from tasks.kernels.program import Program, trace
from tasks.programs import limb_inputs, solved_limb, structure

Array = Any


@functools.cache
def motion_program(family: Family, groups: tuple[FrictionGroup, ...], implicit: bool = False) -> Program:
    """`acceleration`, `kept_speed` (freedom,); `actuator_velocity`; `status`; and of the joints with friction:

    `braking`, their friction; `velocity`, `change`, its rate; `limit`, the most that holds them against what they hold
    now; `memory_rate` and `remembered`, their memory once they are here.
    """
    made = structure(family)
    free, actuators = made.freedoms, len(made.mechanism.actuators)
    kinds = actuation.joint_kinds(family)

    def one_sample(
        parameters: Array,
        mount: Array,
        gravity: Array,
        friction: Array,
        q: Array,
        qd: Array,
        force: Array,
        **given: Array,
    ) -> dict[str, Any]:
        motion = np.concatenate([q, qd, np.zeros(free)])
        mounted, solved, _, _ = solved_limb(made, 0, parameters, mount, motion)
        joints = [Braked(each) for each in joint_friction.rubbing(groups, kinds, friction)]
        modes = Modes(*(array(given[name]) for name in ("stuck", "direction", "memory")))
        stage = Stage(0.0, np.zeros(free), np.zeros(len(joints)))
        if implicit:
            stage = Stage(given["scale"][0], given["less_rate"], given["less_memory"])
        pushed = Pushed(mounted, solved, qd, array(gravity), force, joints, modes, stage)
        loads, unsettled = Loads(family, groups, pushed).settled()
        moved = pushed.moved(loads)
        status = where(unsettled > 0.5, float(Status.FRICTION_NOT_CONVERGED), solved.status)
        status = where(pushed.massless, float(Status.SINGULAR), status)
        sides = zip(joints, loads, moved.friction, strict=True)
        return {
            "acceleration": moved.acceleration,
            "kept_speed": pushed.kept_speed(loads),
            "actuator_velocity": pushed.jacobian @ array(qd),
            "braking": moved.friction,
            "velocity": pushed.velocity,
            "change": pushed.rows @ moved.acceleration + pushed.drift,
            "limit": [each.limit(load, tau) for each, load, tau in sides],
            "memory_rate": moved.memory_rate,
            "remembered": [
                each.remembered(v, s, z)
                for each, v, s, z in zip(joints, pushed.velocity, modes.stuck, modes.memory, strict=True)
            ],
            "status": [status],
        }

    count = sum(len(group.places) for group in groups)
    case = limb_inputs(made, 0) | {"friction": (sum(len(group.parameters) for group in groups),)}
    sample: dict[str, tuple[int, ...]] = {"q": (free,), "qd": (free,), "force": (actuators,)}
    sample |= dict.fromkeys(("stuck", "direction", "memory"), (count,))
    sample |= {"scale": (1,), "less_rate": (free,), "less_memory": (count,)} if implicit else {}
    kind = "implicit" if implicit else "explicit"
    name = "-".join(f"{group.law}.{group.load}" for group in groups) or "none"
    return trace(f"{family.name}.motion.{kind}.{name}", one_sample, case=case, sample=sample)
