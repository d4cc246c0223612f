"""Regressors of many robots of one family, see `tasks.dynamics.regressor` for one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile

import numpy as np

from robots.model import Inertia
from robots.status import Status
from tasks.dynamics.designs import RobotDesigns, request_of, strips
from tasks.dynamics.inertial_parameters import TENSOR, limb_columns, platform_has_columns, selection, shared_columns
from tasks.dynamics.records import Motion
from tasks.dynamics.regressor import friction_values, inertial_columns
from tasks.dynamics.regressor_programs import friction_program
from tasks.features.friction.inputs import FrictionInput
from tasks.kernels.kernel import STRIP, kernel
from tasks.stages.stages import stages


def regressors(
    designs: RobotDesigns,
    motion: Mapping[str, np.ndarray],
    friction: FrictionInput,
    columns: Sequence[int] | None = None,
    base: Motion | None = None,
) -> np.ndarray:
    """Return Y (design, actuator, column, sample) of designs whose limbs that are copies share their parameters.

    motion (design or 1, sample, ...): keywords of `Moving`; base: its motion (sample, ...), absent where it stands.
    Columns of friction come last; columns: those of the result. Samples that cannot be solved are NaN.
    """
    family, inertial = designs.family, len(shared_columns(designs.family)[0])
    samples, packed = next(iter(motion.values())).shape[1], designs.packed(motion)
    rubbing = len(friction_values(friction))
    numbers = np.arange(inertial + rubbing) if columns is None else np.asarray(columns)
    bodies, joints = numbers[numbers < inertial], numbers[numbers >= inertial] - inertial
    result = np.empty((len(designs), len(family.reference.actuators), len(numbers), samples))
    if len(joints):
        result[:, :, len(bodies) :] = friction_columns(designs, motion, friction, joints, base)
    values, cases = designs.inputs(packed, friction, designs.field(base, samples)), max(1, STRIP // packed.shape[-1])
    for first in range(0, len(designs), cases):
        part = slice(first, first + cases)
        of_part = {key: array[part] if len(array) > 1 else array for key, array in values.items()}
        places = shared_columns(family)[1]
        forces, along, status = inertial_columns(family, of_part, samples, places, moving_base=base is not None)
        on_actuators = forces.reshape(len(forces), result.shape[1], -1, 1, samples)
        along = along[:, None, :, bodies]
        whole = result[part, :, : len(bodies)]
        np.multiply(on_actuators[:, :, 0], along[:, :, 0], out=whole)
        for freedom in range(1, on_actuators.shape[2]):
            whole += on_actuators[:, :, freedom] * along[:, :, freedom]
        np.copyto(result[part], np.nan, where=(status != Status.OK)[:, None, None])
    return result


def friction_columns(
    designs: RobotDesigns,
    motion: Mapping[str, np.ndarray],
    friction: FrictionInput,
    numbers: Sequence[int] | np.ndarray | None = None,
    base: Motion | None = None,
) -> np.ndarray:
    """Return the columns of friction of `regressors` alone, or some of them, (design, actuator, column, sample)."""
    family, samples = designs.family, next(iter(motion.values())).shape[1]
    actuators = len(family.reference.actuators)
    columns = np.arange(len(friction_values(friction))) if numbers is None else np.asarray(numbers)
    request = request_of(family, ("actuator_force",), friction, moving_base=base is not None)
    before = list(takewhile(lambda stage: stage.name != "actuation", stages(request)))
    run = kernel(friction_program(family, friction.groups))
    result = np.empty((len(designs), actuators, len(columns), samples))
    values = designs.inputs(designs.packed(motion), friction, designs.field(base, samples))
    for part, span, here in strips(values, before, len(designs), samples):
        count = span.stop - span.start
        outputs = run({name: here[name] for name in run.program.inputs}, count)["columns"][..., :count]
        result[part, ..., span] = outputs.reshape(len(outputs), actuators, -1, count)[:, :, columns]
    return result


def standard_values(designs: RobotDesigns, friction: FrictionInput) -> np.ndarray:
    """Return the designs' own values of the columns of `regressors`, (design, column)."""
    mechanism, family = designs.mechanism, designs.family
    parts = []
    for instance in mechanism.instances:
        limb, columns = mechanism.limbs[instance.limb], limb_columns(family, instance.limb)
        parts += [_body_values(designs, limb.links[k].inertia) for k in columns.bodies]
        drives = [limb.links[k].armature for k in columns.armatures]
        drives += [limb.drives[k].spins[place].inertia for k, place in columns.spins]
        parts += [designs.numbers(drives)] if drives else []
    parts += [_body_values(designs, mechanism.platform.inertia)] if platform_has_columns(family) else []
    every = np.concatenate(parts, axis=1)
    if not mechanism.is_chain:
        copies = selection(family)
        every = every @ copies / copies.sum(axis=0)
    rubbing = np.broadcast_to(friction_values(friction), (len(designs), len(friction_values(friction))))
    return np.concatenate([every, rubbing], axis=1)


def _body_values(designs: RobotDesigns, inertia: Inertia) -> np.ndarray:
    """Return the ten parameters of a body (design, 10), see `tasks.dynamics.inertial_parameters.body_parameters`."""
    centre, mass = designs.numbers(inertia.centre), designs.numbers([inertia.mass])
    tensor = np.stack([designs.numbers(row) for row in inertia.tensor], axis=1)
    square, outer = np.square(centre).sum(axis=1), centre[:, :, None] * centre[:, None]
    about = tensor + (np.eye(3) * square[:, None, None] - outer) * mass[..., None]
    return np.concatenate([mass, centre * mass, *(about[:, i, j, None] for i, j in TENSOR)], axis=1)
