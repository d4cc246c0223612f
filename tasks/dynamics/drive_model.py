"""The inverse model of a robot for a batch whose samples are separate cases: the model of controllers and sensors."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence, Set

import numpy as np

from robots.loads.family import signal_values
from robots.model import Family
from tasks.dynamics.drive_values import Inverse
from tasks.features import table
from tasks.kernels.kernel import has_compiler
from tasks.kernels.keys import Arrays, Indexed, Key, Values, indexed
from tasks.kernels.lanes import BoundKernel, ProgramSequence, Slot, Slots, empty
from tasks.kernels.like_calls import LikeCalls
from tasks.mechanics.families import even_weights, mount_values, structure_of
from tasks.stages.parts import VELOCITY
from tasks.stages.stage import Rows, Stage
from tasks.stages.stages import assembly, limb, platform


def case_rows(family: Family, parameters: np.ndarray, gravity: tuple[float, float, float]) -> Values:
    """Return the inputs that depend on the design, (sample, size), from `parameters` (sample, parameter)."""
    named = {p.name: parameters[:, i] for i, p in enumerate(family.parameters)}
    values: Values = {"parameters": parameters, "gravity": np.array([gravity], dtype=float), **even_weights(family)}
    for k, mount in enumerate(mount_values(family, named)):
        values |= indexed(k, {"mount": mount})
    return {key: np.broadcast_to(value, (len(parameters), value.shape[1])) for key, value in values.items()}


class InverseModel:
    """Positions and rates of actuators, J_IK and the forces of a motion, without friction and load.

    `constants` are the result of `case_rows`, `series` further series of limbs. Arrays are (size, padded samples). For
    loads that change with time, on which only forces depend, `run` takes the signals (signal, samples).
    """

    def __init__(self, family: Family, constants: Arrays, series: tuple[str, ...] = ()):
        self.family, self.constants, self.series = family, constants, series
        request = table.request(family, ("actuator_position", *series), at_states=family.reference.underactuated)
        limbs = range(len(family.reference.instances))
        self._limbs = [self._bound(limb(request, k)) for k in limbs]
        self._rest = [] if family.reference.is_chain else [self._bound(platform(request))]
        self._rest.append(self._bound(assembly(request)))
        self.structure = structure_of(family)
        self.freedoms = self.structure.positions

    @functools.cached_property
    def _whole(self) -> WholeModel | None:
        """Model that runs all stages in one call, every sample a separate case; None without a compiler."""
        stages = (*self._limbs, *self._rest)
        if not has_compiler() or not all(run.in_lanes for _, run in stages):
            return None
        kept: set[Key] = {VELOCITY, "force", "status"}
        for k in range(len(self._limbs)):
            kept |= {Indexed(name, k) for name in ("actuator_position", "jacobian", "status", *self.series)}
        return WholeModel(stages, self.structure.motion_size, len(self.family.signals), kept)

    @property
    def in_one_call(self) -> bool:
        """True if all stages can be part of a sequence of programs."""
        return self._whole is not None

    def add_to(
        self, sequence: ProgramSequence, motion: Slot, outputs: Slots, *, alone: bool = False
    ) -> dict[Key, Slot]:  # fmt: skip
        """Make the model of a motion input the next of a sequence; its results by key, some in given places.

        alone: all samples are of one case.
        """
        inputs: dict[Key, Slot] = {"motion": motion, "held": sequence.local(0)}
        places = [_places(stage, run, outputs) for stage, run in self._limbs]
        calls = LikeCalls(sequence, [run for _, run in self._limbs], alone=alone)
        for (stage, _), results in zip(self._limbs, calls.add(inputs, places), strict=True):
            inputs |= {stage.gives(name): slot for name, slot in results.items()}
        return add_stages(sequence, self._rest, inputs, outputs)

    def _bound(self, stage: Stage) -> tuple[Stage, BoundKernel]:
        """Return a stage with its inputs of the cases."""
        case = {name: self.constants[_source(stage, name)] for name in stage.program.case}
        return stage, BoundKernel(stage.program, case)

    def signals_at(self, time: float, width: int) -> np.ndarray:
        """Return the signals of loads at a time [s], the same for all samples (signal, samples)."""
        return np.repeat(signal_values(self.family, time)[:, None], width, axis=1)

    def run(self, motion: np.ndarray, *, forces: bool = True, signals: np.ndarray | None = None) -> Inverse:
        """Compute the inverse model for a motion input (size, samples).

        Without `forces` the result holds only positions and J_IK.
        """
        width = motion.shape[1]
        changing = np.zeros((len(self.family.signals), width)) if signals is None else signals
        if forces and self._whole is not None:
            return Inverse(self._whole(motion, changing), len(self._limbs), forces, changing)
        values: Values = {"motion": np.ascontiguousarray(motion)[None], "held": np.zeros((1, 0, width))}
        values |= {"signals": changing[None]} if len(changing) else {}
        for stage, run in (*self._limbs, *(self._rest if forces else ())):
            results = run({name: values[_source(stage, name)] for name in stage.program.sample}, width)
            values |= {stage.gives(name): array for name, array in results.items()}
        return Inverse(values, len(self._limbs), forces, changing)


def add_stages(
    sequence: ProgramSequence, stages: Iterable[tuple[Stage, BoundKernel]], inputs: Slots, outputs: Slots
) -> dict[Key, Slot]:
    """Make stages the next of a sequence; inputs and results of all of them by key, some results in given places."""
    slots = dict(inputs)
    for stage, run in stages:
        inputs = {name: slots[_source(stage, name)] for name in run.program.sample}
        results = run.add_to(sequence, inputs, _places(stage, run, outputs))
        slots |= {stage.gives(name): slot for name, slot in results.items()}
    return slots


def _places(stage: Stage, run: BoundKernel, outputs: Slots) -> Slots:
    """Return the given places of the results of a stage, by the names of its program."""
    return {name: outputs[stage.gives(name)] for name in run.program.outputs if stage.gives(name) in outputs}


class WholeModel:
    """The stages of an inverse model as one sequence, which returns their `kept` results."""

    def __init__(self, stages: Sequence[tuple[Stage, BoundKernel]], size: int, signals: int, kept: Set[Key]):
        self._sequence = sequence = ProgramSequence()
        self._motion = sequence.wide(size)
        slots: dict[Key, Slot] = {"motion": self._motion, "held": sequence.local(0)}
        self._signals = sequence.wide(signals) if signals else None
        slots |= {} if self._signals is None else {"signals": self._signals}
        self._kept: dict[Key, Slot] = {}
        for stage, run in stages:
            rows = {stage.gives(name): len(nodes) for name, (_, nodes) in run.program.outputs.items()}
            self._kept |= {key: sequence.wide(count) for key, count in rows.items() if key in kept}
        add_stages(sequence, stages, slots, self._kept)

    def __call__(self, motion: np.ndarray, signals: np.ndarray) -> Values:
        """Return results for motion inputs (size, samples) and signals (signal, samples), each (1, rows, samples)."""
        results = empty(self._kept, motion.shape[1])
        arrays = {self._motion: motion} | {slot: results[key] for key, slot in self._kept.items()}
        arrays |= {} if self._signals is None else {self._signals: signals}
        self._sequence(arrays, motion.shape[1])
        return {key: array[None] for key, array in results.items()}


def _source(stage: Stage, name: Key) -> Key:
    """Return the key of a stage's input among the values; none of these stages takes a part of one."""
    source = stage.takes.get(name, name)
    assert not isinstance(source, Rows)
    return source
