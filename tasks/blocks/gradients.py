"""Metrics of a block with their exact derivatives along directions in the space of design parameters.

The chain is that of `tasks.blocks.block`: limbs, platform, assembly, friction, each by the pushforward of its program.
A peak is differentiated at the sample where it occurs, which is exact wherever one sample alone has it. Motions of the
platform do not depend on the design; friction parameters are held fixed.

Peaks of reactions are in `tasks.blocks.reaction_rates`. Not here: friction that depends on reactions, and laws with a
state. These are refused.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robots.model import Family
from tasks.blocks.block import Arrays, Block
from tasks.blocks.commanded import motions
from tasks.blocks.reaction_rates import ReactionRates
from tasks.kernels.cache import kernel
from tasks.kernels.kernel import padded
from tasks.kernels.program import Program, trace
from tasks.kernels.pushforward import SUFFIX, pushforward
from tasks.mechanics.structure import flat_mount, structure_of, symbolic
from tasks.metrics import actuators
from tasks.metrics.poses import POSE_METRICS, VOLUMES
from tasks.programs.actuation import actuation_program
from tasks.programs.assembly import assembly_program, even_weights
from tasks.programs.limb import limb_program
from tasks.programs.platform import platform_program

Array = Any

PARAMETERS = "parameters"
TINY = 1e-200
"""Imaginary step of what finishes a metric: so small that nothing is lost by it."""

REACTION = "peak_reaction"

DIFFERENTIABLE = (*actuators.METRICS, *(name for name in POSE_METRICS if name not in VOLUMES), REACTION)
"""Metrics that `metric_rates` knows."""


@dataclass(frozen=True)
class Rates:
    """A metric and how it changes: values (design, ..., window), rates (direction, design, ..., window).

    Between, the dims of the metric: friction set and trajectory, or trajectory alone; then actuator, if it has one.
    """

    values: np.ndarray
    rates: np.ndarray


def metric_rates(block: Block, directions: Array, windows: int = 1) -> dict[str, Rates]:
    """The metrics of a block and their derivatives along `directions` (direction, parameter) in units of parameters.

    A peak over time is given for each of `windows` equal parts of the samples, so that who optimises can see the peaks
    behind the highest. Sums over time have one window. A case with a failed sample is NaN. Raises ValueError for
    metrics and friction that are not differentiated.
    """
    along = np.ascontiguousarray(directions, dtype=float)
    if along.ndim != 2 or along.shape[1] != block.parameters.shape[1]:
        expected = f"(directions, {block.parameters.shape[1]})"
        raise ValueError(f"directions: got an array of shape {along.shape}; expected {expected}, one row for each")
    _check(block)
    return _Chain(block, along, min(windows, len(block.times))).run()


def _check(block: Block) -> None:
    for name in block.metrics:
        if name not in DIFFERENTIABLE:
            raise ValueError(f"metric {name!r} is not differentiated; expected some of {', '.join(DIFFERENTIABLE)}")
    for group in block.groups:
        if group.remembers or group.load == "reaction":
            raise ValueError(
                f"friction law {group.law!r} under load {group.load!r} is not differentiated; expected a law without "
                "state, under a load that does not depend on reactions"
            )


@functools.cache
def mount_program(family: Family) -> Program:
    """The `mount` inputs of all limbs of the robot, `mount_k`, from sample input `parameters`."""
    made = structure_of(family)

    def one_sample(parameters: Array) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for k, each in enumerate(symbolic(made, parameters).instances):
            flat = flat_mount(each)
            result[f"mount_{k}"] = [flat[i] for i in made.differing[each.limb]]
        return result

    return trace(f"{family.name}.mounts", one_sample, case={}, sample={PARAMETERS: (len(family.parameters),)})


class _Chain:
    """One pass along a block's programs. Cases are designs times directions, designs slower."""

    def __init__(self, block: Block, directions: np.ndarray, windows: int):
        self.block, self.windows = block, windows
        self.count, self.samples = len(directions), len(block.times)
        self.root = motions(block)
        self.weights = np.zeros((1, 1, padded(self.samples)))
        self.weights[0, 0, : self.samples] = actuators.trapezoid_weights(block.times)
        self.case = {
            PARAMETERS: np.repeat(block.parameters, self.count, axis=0),
            PARAMETERS + SUFFIX: np.tile(directions, (block.designs, 1)),
            "gravity": np.array([block.gravity], dtype=float),
        }
        self.mounts = self._mounts()
        self.reacting = ReactionRates(block, self._run, self.case, self.mounts, self.samples)

    def _reactions(self, assembled: Arrays, motion: np.ndarray, friction: np.ndarray) -> Rates:
        """Peaks for one friction set on one trajectory, (case, limb, joint, window)."""
        sizes = self.reacting.of(assembled, motion, friction)
        return Rates(*_extremes(sizes.values, sizes.rates, "max", self.windows))

    def run(self) -> dict[str, Rates]:
        friction = [name for name in self.block.metrics if name in actuators.METRICS]
        alone = [name for name in self.block.metrics if name in POSE_METRICS]
        found: dict[str, list[Any]] = {name: [] for name in self.block.metrics}
        for motion in self.root.motion:
            assembled = self._assembled(motion, tuple(alone))
            for name in alone:
                found[name].append(self._reduced(name, assembled, self._assembly(tuple(alone)).reductions[name]))
            rows = [self._actuated(assembled, tuple(friction), values) for values in self.block.friction if friction]
            for name in friction:
                found[name].append([row[name] for row in rows])
            if REACTION in found:
                found[REACTION].append([self._reactions(assembled, motion, values) for values in self.reacting.sets])
        return {name: self._gathered(name, parts) for name, parts in found.items()}

    def _mounts(self) -> Arrays:
        """The `mount` inputs of limbs with their rates, (case, size)."""
        cases = len(self.case[PARAMETERS])
        width = padded(cases)
        rows = {name: np.pad(self.case[name], ((0, width - cases), (0, 0)), mode="edge") for name in _PARAMETER_INPUTS}
        run = kernel(pushforward(mount_program(self.block.family), (PARAMETERS,)))
        out = run({name: np.ascontiguousarray(value.T)[None] for name, value in rows.items()}, cases)
        return {name: np.ascontiguousarray(value[0, :, :cases].T) for name, value in out.items()}

    def _shares(self, motion: np.ndarray) -> Arrays:
        """What limbs and platform give, with rates, named as the inputs of an assembly."""
        block, made = self.block, structure_of(self.block.family)
        shares: Arrays = {}
        for k, each in enumerate(made.mechanism.instances):
            asked = block.limb_shares(k)
            wanted = ((), bool(block.reactions), block.limb_friction[k])
            program = limb_program(block.family, each.limb, *wanted, **asked)
            given = {"mount": self.mounts[f"mount_{k}"], "mount_tangent": self.mounts[f"mount_{k}_tangent"]}
            given |= {"motion": motion[None], "limits": block.limb_limits[k][1]}
            out = self._run(program, {**self.case, **given}, fixed=("motion", "gravity", "limits"))
            shares |= {_numbered(name, k): value for name, value in out.items()}
        if not made.mechanism.is_chain:
            program = platform_program(block.family, bool(block.reactions), **block.shares)
            out = self._run(program, {**self.case, "motion": motion[None]})
            shares |= {name if name in _HELD else f"platform_{name}": value for name, value in out.items()}
        elif block.reactions:
            shares["held"] = np.zeros((1, 0, padded(self.samples)))
        return shares

    def _assembly(self, metrics: tuple[str, ...]) -> Program:
        return assembly_program(self.block.family, metrics, self.block.limited)

    def _assembled(self, motion: np.ndarray, metrics: tuple[str, ...]) -> Arrays:
        given = self._shares(motion) | {"motion": motion[None]} | even_weights(self.block.family)
        return given | self._run(self._assembly(metrics), given)

    def _actuated(self, given: Arrays, metrics: tuple[str, ...], friction: np.ndarray) -> dict[str, Rates]:
        block = self.block
        program = actuation_program(block.family, block.groups, (), metrics)
        fixed = {"weight": self.weights, "friction": friction[None], "capacity": block.capacity}
        out = self._run(program, {**given, **self.case, **fixed})
        return {name: self._reduced(name, out, program.reductions[name]) for name in metrics}

    def _run(self, program: Program, given: Mapping[str, np.ndarray], fixed: Sequence[str] = ()) -> Arrays:
        """Outputs of a program and their rates; what has a rate among the given inputs varies."""
        varying = [n for n in program.inputs if n + SUFFIX in given and n not in fixed and given[n].shape[1]]
        made = pushforward(program, varying)
        return dict(kernel(made)({name: given[name] for name in made.inputs}, self.samples))

    def _reduced(self, name: str, out: Mapping[str, np.ndarray], how: str) -> Rates:
        """(case, component, window), both values and rates."""
        values, rates = (out[key][..., : self.samples] for key in (name, name + SUFFIX))
        if how == "sum":
            reduced = values.sum(axis=-1, keepdims=True), rates.sum(axis=-1, keepdims=True)
        else:
            reduced = _extremes(values, rates, how, self.windows)
        with np.errstate(invalid="ignore"):
            stepped = self._finished(name, reduced[0] + 1j * TINY * reduced[1])
        return Rates(self._finished(name, reduced[0]), np.asarray(np.imag(stepped)) / TINY)

    def _finished(self, name: str, reduced: np.ndarray) -> np.ndarray:
        if name in actuators.METRICS:
            return actuators.METRICS[name].finished(reduced, float(self.weights.sum()), axis=1)
        return POSE_METRICS[name].finish(reduced, self.samples, structure_of(self.block.family).freedoms)

    def _has_sets(self, name: str) -> bool:
        """Whether a metric depends on friction here."""
        return any(self.block.passive) if name == REACTION else actuators.METRICS[name].friction

    def _gathered(self, name: str, parts: Sequence[Any]) -> Rates:
        """From (case, component, window) of each trajectory and set to the dims of `Rates`."""
        result = []
        for kind in ("values", "rates"):
            if name in actuators.METRICS or name == REACTION:
                stacked = np.stack([[getattr(each, kind) for each in row] for row in parts])  # j, f, case, ..., w
                stacked = np.moveaxis(stacked, (2, 1), (0, 1))
                stacked = stacked if self._has_sets(name) else stacked[:, 0]
            else:
                stacked = np.stack([getattr(each, kind)[:, 0] for each in parts], axis=1)
            result.append(stacked.reshape(self.block.designs, self.count, *stacked.shape[1:]))
        return Rates(result[0][:, 0], np.moveaxis(result[1], 1, 0))


_HELD = ("held", f"held{SUFFIX}")
_PARAMETER_INPUTS = (PARAMETERS, PARAMETERS + SUFFIX)


def _numbered(name: str, k: int) -> str:
    """The name of a share of limb k; that of a rate still ends as rates do."""
    return f"{name.removesuffix(SUFFIX)}_{k}{SUFFIX}" if name.endswith(SUFFIX) else f"{name}_{k}"


def _extremes(values: np.ndarray, rates: np.ndarray, how: str, windows: int) -> tuple[np.ndarray, np.ndarray]:
    """The largest or smallest value in each window, NaN if any is, and the rate where it occurs."""
    at = np.argmax if how == "max" else np.argmin
    found = []
    for part in np.array_split(np.arange(values.shape[-1]), windows):
        best = at(values[..., part], axis=-1)[..., None]
        found.append([np.take_along_axis(array[..., part], best, axis=-1) for array in (values, rates)])
    return tuple(np.concatenate(each, axis=-1) for each in zip(*found, strict=True))  # type: ignore[return-value]
