"""Bytes that the tasks of a block hold and hand on, from the shapes of the stages that they run."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import cached_property

from pipeline.sweep.model import Sweep
from robots.data_classes import dataclass
from robots.dims import FRICTION, SPACE
from robots.friction.groups import varies
from robots.measurement import clean_series
from robots.quantities import QUANTITIES, Quantity
from tasks.features.friction.feature import FrictionGroups
from tasks.features.limits import JointLimits
from tasks.features.loads import PlatformWrench
from tasks.features.redundancy.resolved import Redundancy
from tasks.features.sharing import Sharing
from tasks.features.table import criteria_features, request
from tasks.kernels.keys import Shapes, padded, spaced
from tasks.mechanics.recursion import MOVING
from tasks.stages import stages
from tasks.stages.metrics import margins
from tasks.stages.request import Request
from tasks.stages.stages import DERIVED_STRIP, STRIP

DOUBLE = 8

ARRAYS = 6
"""Arrays that hold the derivatives of series while they are judged, of each side."""
OVERHEAD = 1 << 20
"""Bytes of a block whatever is in it: its graph, the objects of its tasks."""
REACTING_STRIP = 1 << 10
"""Samples of a strip of one task with reactions, where stages hand on hundreds of numbers of a sample."""
BASE_MEMORY = 121 << 20
"""Bytes of a worker before its first block: Python and its libraries."""
CODE_MEMORY = 8 << 20
"""Bytes of programs and machine code for each limb of a robot."""
COMPILER_MEMORY = 24 << 20
"""Bytes of LLVM in a worker that compiles; one that finds machine code on its disk is smaller."""
SIGNALS_MEMORY = 64 << 20
"""Bytes of SciPy's filters, which sensors need."""


@dataclass(frozen=True)
class Lengths:
    """Lengths of a block."""

    designs: int
    sets: int
    trajectories: int
    times: int

    @property
    def width(self) -> int:
        """Numbers that a row of samples takes."""
        return spaced(padded(self.times))


@dataclass(frozen=True)
class Memory:
    """Memory of the blocks of a sweep for some variables: stored ones, and series that user metrics need."""

    sweep: Sweep
    wanted: tuple[str, ...]

    @cached_property
    def request(self) -> Request:
        """Request of a block to the stages of the dynamics."""
        family = self.sweep.family
        wanted = tuple(name for name in (*self.wanted, *clean_series(self.wanted)) if name in QUANTITIES)
        limits = (margins.of_limb(self.sweep.limits, k)[0] for k in range(len(family.reference.instances)))
        loaded = any(trajectory.load is not None for trajectory in self.sweep.trajectories)
        given = self.sweep.simulation is not None
        features = (
            *(FrictionGroups(self.sweep.friction.groups), JointLimits(tuple(limits)), PlatformWrench(loaded)),
            *(Sharing(self.sweep.sharing.form), Redundancy(bool(family.reference.resolved) and not given)),
            *criteria_features(family.reference, self.sweep.criteria),
            *self.sweep.features,
        )
        return request(family, wanted, *features, moving_base=self.sweep.base is not None, given=given)

    @property
    def reacts(self) -> bool:
        """Return whether reactions are computed. Where limbs are tasks, reactions have tasks of their own."""
        return bool(self.request.reactions)

    @cached_property
    def design(self) -> int:
        """Bytes of a design: its parameters, and the mount frames of limbs that follow from them."""
        structure = self.request.structure
        mounts = sum(len(structure.differing[instance.limb]) for instance in structure.mechanism.instances)
        return DOUBLE * (len(self.sweep.family.parameters) + mounts)

    @cached_property
    def limbs(self) -> int:
        """Bytes of one sample that limbs give."""
        instances = range(len(self.request.structure.mechanism.instances))
        return DOUBLE * sum(numbers(stages.limb(self.request, k).shapes) for k in instances)

    @cached_property
    def reactions(self) -> int:
        """Bytes of one sample of the largest limb in wrenches, as its kernel gives them."""
        mechanism = self.request.structure.mechanism
        most = max(len(mechanism.limbs[instance.limb].joints) for instance in mechanism.instances)
        series = [QUANTITIES[name].dims for name in self.request.reactions if QUANTITIES[name].kind == "series"]
        numbers = max(6, sum(SPACE[dims[-1]] for dims in series))
        return DOUBLE * most * numbers if self.reacts else 0

    @cached_property
    def loads(self) -> tuple[int, int]:
        """Bytes of one sample that reactions need of the assembly: for each friction set, and apart from friction."""
        if not self.reacts:
            return 0, 0
        actuators = len(self.request.structure.mechanism.actuators)
        passive = sum(map(len, self.request.passive))
        loads = DOUBLE * (1 + actuators + passive + numbers(stages.balance(self.request).shapes))
        known = DOUBLE * numbers(self.request.known)
        return (loads, known) if passive else (0, loads + known)

    @cached_property
    def strip(self) -> int:
        """Bytes of one sample of a strip that platform, assembly and actuation work on."""
        request, mechanism = self.request, self.request.structure.mechanism
        steps = (
            [stages.assembly(request)] if mechanism.is_chain else [stages.platform(request), stages.assembly(request)]
        )
        series = [QUANTITIES[name].dims for name in request.of("actuation", "series")]
        sizes = {"actuator": len(mechanism.actuators), "joint": sum(len(g.places) for g in self.sweep.friction.groups)}
        parts = sizes | SPACE
        actuation = sum(
            math.prod(parts[dim] for dim in dims if dim in parts)
            for dims in series
            if not sizes.keys().isdisjoint(dims)
        )
        return DOUBLE * (sum(numbers(stage.shapes) for stage in steps) + actuation + self._linear)

    @property
    def _linear(self) -> int:
        """Numbers of one sample that a linearisation works on: its matrices, and rates of forces and of J_IK."""
        if not self.request.of("linear"):
            return 0
        free, actuators = self.request.structure.freedoms, len(self.request.structure.mechanism.actuators)
        return 2 * free * (2 * free + actuators) + 4 * free * (1 + actuators)

    def shared(self, lengths: Lengths) -> int:
        """Return the bytes that a block holds for all its life: motions, parameters of designs and of friction."""
        motion = lengths.trajectories * self.request.structure.motion_size * lengths.width
        motion += (len(self.sweep.family.signals) + (MOVING if self.sweep.base else 0)) * lengths.width
        friction = lengths.sets * len(self.sweep.friction.parameters)
        return DOUBLE * (motion + friction) + lengths.designs * self.design

    def pair(self, times: int) -> int:
        """Return the bytes that tasks hand on for one design on one trajectory, and the bytes of the design itself."""
        return self.limbs * spaced(padded(times)) + self.design

    def peak(self, lengths: Lengths, stored: int, reacting: int, writing: int, *, by_limb: bool = True) -> int:
        """Return the largest number of bytes that the tasks of a block hold at the same time, over all its steps.

        `stored` are the bytes of its results, with series for user metrics; `reacting` the bytes of the reactions among
        them; `writing` the additional bytes while results are stored. `by_limb`: limbs are tasks, which hand on their
        results for the whole block; a single task for the block holds those of a strip.
        """
        width, designs, cases = lengths.width, lengths.designs, lengths.designs * lengths.trajectories
        motion = DOUBLE * lengths.trajectories * self.request.structure.motion_size * width
        shared = self.shared(lengths)
        tasks = len(self.request.structure.mechanism.instances) if by_limb else 1
        limbs = cases * width * self.limbs if by_limb else 0
        at_once = not by_limb and self.reacts
        samples = REACTING_STRIP if at_once else STRIP
        in_strip, in_part = self.strip + (0 if by_limb else self.limbs), 0
        if at_once:  # states of joints go from limbs to reactions part by part
            in_strip, in_part = in_strip - DOUBLE * numbers(self.request.known), self.reactions + sum(self.loads)
        part = width if any(self.request.passive) else min(width, 2 * samples)
        strip = min(designs, max(1, samples // width)) * (width * in_strip + part * in_part)
        per_set, once = (0, 0) if at_once else self.loads
        loads = cases * width * (lengths.sets * per_set + once)
        results = stored if at_once else stored - reacting
        copied = reacting if self.request.peaks_alone or not at_once else 0
        reduced = min(results, 2 * DOUBLE * cases * lengths.sets * len(self.request.structure.mechanism.actuators))
        steps = [
            shared + motion,
            shared + limbs + strip + results + reduced + loads,
            shared + (0 if self.reacts else limbs) + loads + stored + copied + writing,
        ]
        if self.reacts and not at_once:
            steps.append(shared + loads + stored + tasks * designs * width * self.reactions)
        return OVERHEAD + max(steps)

    def derived(self, lengths: Lengths, series: int) -> int:
        """Return the bytes of all values of the samples differentiated at a time, and of their rates.

        series: numbers of the derivatives of series of a design, which are held for both sides, ARRAYS of each.
        """
        if not (requested := self.sweep.derivatives).quantities:
            return 0
        instances = len(self.request.structure.mechanism.instances)
        reacting = self.reactions * instances + sum(self.loads)
        cases = 2 * len(requested.parameters) * lengths.sets * lengths.trajectories * lengths.times
        together = min(lengths.designs, max(1, DERIVED_STRIP // cases))
        return 2 * DERIVED_STRIP * (self.limbs + self.strip + reacting) + 2 * ARRAYS * DOUBLE * series * together


def numbers(shapes: Shapes) -> int:
    """Return the total count of numbers in arrays of these shapes."""
    return sum(map(math.prod, shapes.values()))


def pair_bytes(sizes: Mapping[str, int], rows: Iterable[Quantity], steady: Iterable[str], *, per_set: bool) -> int:
    """Return the bytes that one design on one trajectory stores, for one friction set or apart from friction."""
    return sum(
        DOUBLE * math.prod(sizes[dim] for dim in row.dims if dim not in ("design", FRICTION, "trajectory"))
        for row in rows
        if (FRICTION in row.dims and row.name not in steady) == per_set
    )


def stored_quantities(sweep: Sweep) -> tuple[str, ...]:
    """Return the quantities that a store of this sweep has, in their table's order: requested, or always stored."""
    timed = any({"time", "design"} <= {*QUANTITIES[name].dims} for name in sweep.outputs)
    conditions = {
        "always": True,
        "with series": timed,
        "where friction settles": varies(QUANTITIES["status"], sweep.friction.groups),
        "on request": False,
    }
    asked = {*sweep.outputs, *sweep.metrics}
    return tuple(name for name, row in QUANTITIES.items() if name in asked or conditions[row.stored])


def steady_quantities(sweep: Sweep, quantities: Iterable[str]) -> tuple[str, ...]:
    """Return the quantities with a dim of friction that do not vary over the friction sets of this sweep."""
    rows = (QUANTITIES[name] for name in quantities if name in QUANTITIES)
    return tuple(row.name for row in rows if FRICTION in row.dims and not varies(row, sweep.friction.groups))


def extra_series(sweep: Sweep) -> tuple[str, ...]:
    """Return the series that user metrics need besides the outputs."""
    stored = stored_quantities(sweep)
    return tuple(
        dict.fromkeys(name for metric in sweep.user_metrics for name in metric.function.series if name not in stored)
    )
