"""Derivatives of metrics or series by all parameters of robots against complex steps through the same stages.

    python -m benchmarks.gradients.metrics [--series] [ROBOT ...]

For each robot a row: quantities that it has, parameters, derivatives, and the largest difference, with its quantity. It
is relative to the largest derivative of the quantity, by parameters in units of themselves, or to 1e-3 of the quantity.
Kinks are left out and counted. Limits, elasticity, errors, clearances and capsules are those of LIMITS and CRITERIA;
friction acts in the drives.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from benchmarks.gradients.complex_steps import STEP, evaluate
from pipeline.errors import InputError
from pipeline.execution.blocks import block_of
from pipeline.execution.work import computed
from pipeline.plan.plan import plan
from pipeline.sweep.model import Sweep
from robots import catalog
from robots.derivatives import derivative, derivative_status
from robots.dims import FRICTION
from robots.quantities import DIFFERENTIABLE, QUANTITIES, SMOOTH_SERIES, reduction
from robots.requested import QuantityNames
from robots.status import Status
from robots.types import TWIST
from tasks.blocks.block import Block, BlockDerivatives, motions
from tasks.blocks.derived_quantities import derivative_arrays
from tasks.blocks.motions import TIMED
from tasks.blocks.series import fill_of_stages
from tasks.kernels.keys import Indexed, Key, Values
from tasks.stages.metrics import actuators, poses
from tasks.stages.mounts import PARAMETERS, mount_program
from tasks.stages.request import Request
from tasks.stages.stages import stages

ROBOTS = (
    "five_bar", "delta_3rr2rrr", "delta_rl5_1450_motors", "planar_3rrr", "gough_stewart", "irsbot2", "orthoglide",
    "agile_eye", "linear_delta", "par4", "planar_3r", "irb6",
)  # fmt: skip
SAMPLES = 9
LEAST = 1e-3
"""Share of a metric below which its derivatives count as small: those of a constant are rounding."""

LIMITS = """
limits:
  joints: {all: {position: [-60, 60], velocity: 1.0e+4}}
  actuators: {all: {force: 1.0e+5, velocity: 1.0e+4, power: 1.0e+7MOTORS}}
"""
OF_MOTORS = ", current: 1.0e+4, voltage: 1.0e+4, rated_current: 1.0e+3"
STIFF = "  stiffness: {actuators: {all: 2.0e+4}, links: {all: {tube: [0.03], young: 7.0e+10, poisson: 0.3}}"
CRITERIA = (
    STIFF + ", load: [0, 0, 0, 0, 0, -50]}\n",
    "  stiffness: {actuators: {all: 2.0e+4}, load: [0, 0, 0, 0, 0, -50]}\n",
    "  accuracy: {resolution: {all: 2.0e-5}, lengths: {all: 1.0e-5}, expansion: {all: 2.0e-5}, warming: 15}\n",
    STIFF
    + "}\n  accuracy: {resolution: {all: 2.0e-5}, lengths: {all: 1.0e-5}, expansion: {all: 2.0e-5}, warming: 15}\n",
    "  clearances: {backlash: {all: 1.0e-4}}\n",
    STIFF + "}\n  clearances: {backlash: {all: 1.0e-4}}\n",
    "  capsules: {links: {all: 0.004}}\n",
)
"""Sections of criteria, one after the other: overconstrained robots need links that give way for their errors."""


class Row(NamedTuple):
    """Figures of a robot: counts of quantities, parameters, derivatives, kinks; largest difference and its quantity."""

    quantities: int
    parameters: int
    derivatives: int
    kinks: int
    difference: float
    quantity: str


def sweeps(robot: str, quantities: Sequence[str]) -> Iterator[Sweep]:
    """Yield sweeps of one case, each with the quantities that go together: with criteria where the robot has them."""
    mechanism = catalog.family(robot).reference
    if mechanism.is_chain:
        count = len(mechanism.freedoms)
        motion = f"kind: harmonic, centre: {[0.02] * count}, amplitude: {[0.05] * count}, period: 1.0"
        motion += f", phase: {[0.4 + 0.1 * k for k in range(count)]}"
    else:
        sizes = zip((0.013, -0.009, 0.008), "xyz", strict=True)
        size = [length if f"v{axis}" in mechanism.platform.mobility else 0.0 for length, axis in sizes]
        motion = f"kind: line_sine, amplitude: {size}, period: 1.0, phase: 0.4"
    head = (
        f"limbsweep: 1\nrobot: {robot}\ntrajectories: {{line: {{{motion}}}}}\n"
        f"time: {{stop: 0.9, samples: {SAMPLES}}}\n"
        "friction: {law: coulomb_viscous, joints: actuated, parameters: {coulomb: 0.1, viscous: 0.2}}\n"
    )
    limits = [LIMITS.replace("MOTORS", more) for more in (OF_MOTORS, "")]
    texts = [*(head + each for each in limits), *(f"{head}criteria:\n{each}" for each in CRITERIA)]
    left, key = list(quantities), "metrics" if quantities == DIFFERENTIABLE else "outputs"
    for text in texts:
        names = [name for name in left if _readable(f"{text}{key}: [{name}]\n")]
        left = [name for name in left if name not in names]
        if names:
            yield Sweep.from_text(f"{text}{key}: [{', '.join(names)}]\n")


def _readable(text: str) -> bool:
    try:
        Sweep.from_text(text)
    except InputError:
        return False
    return True


def row(robot: str, quantities: Sequence[str] = DIFFERENTIABLE) -> Row:
    """Compare all metrics or series of a robot by all of its parameters."""
    wanted = [
        (block_of(plan(s), 0), [n for n in quantities if n in (*s.metrics, *s.outputs)])
        for s in sweeps(robot, quantities)
    ]
    figures = [_compared(block, tuple(names)) for block, names in wanted]
    worst = max(figures, key=lambda figure: figure.difference)
    sums = (sum(getattr(f, name) for f in figures) for name in ("quantities", "derivatives", "kinks"))
    count, derivatives, kinks = sums
    return Row(count, figures[0].parameters, derivatives, kinks, worst.difference, worst.quantity)


def _compared(block: Block, quantities: tuple[str, ...]) -> Row:
    count = block.designs.parameters.shape[1]
    requested = BlockDerivatives(
        quantities, np.eye(count)[None], np.zeros((1, count, block.friction.shape[1])),
        np.zeros((1, count, 3)),
    )  # fmt: skip
    found = derivative_arrays(replace(block, derivatives=requested), computed)
    ends = stepped(replace(block, quantities=QuantityNames(requested.series, requested.metrics), own=(), extra=()))
    units = np.maximum(np.abs(block.designs.parameters[0]), 1e-3)
    worst, name_of_worst, counted, kinks = 0.0, "", 0, 0
    for name in requested.quantities:
        rates = found[derivative(name)].reshape(-1, count) * units
        statuses = found[derivative_status(name)].reshape(-1, count)
        reference = ends[name].imag.reshape(-1, count) / STEP * units
        sound = statuses == Status.OK
        counted, kinks = counted + int(sound.sum()), kinks + int((statuses == Status.KINK).sum())
        size = np.nanmax(np.abs(ends[name].real), initial=0.0)
        scale = max(np.abs(reference[sound]).max(initial=0.0), LEAST * size)
        difference = np.abs(rates - reference)[sound].max(initial=0.0) / scale if scale else 0.0
        if not difference <= worst:
            worst, name_of_worst = float(difference), name
    return Row(len(quantities), count, counted, kinks, worst, name_of_worst)


def stepped(block: Block) -> dict[str, np.ndarray]:
    """Return metrics and series of a case (component, parameter) a complex step away along each parameter."""
    count, samples = block.designs.parameters.shape[1], len(block.times)
    names = ("joint_reaction" if name == "peak_reaction" else name for name in (*block.metrics, *block.series))
    request: Request = replace(block.request, quantities=QuantityNames(tuple(dict.fromkeys(names))))
    weights = actuators.trapezoid_weights(block.times)
    values: dict[Key, Any] = {key: _complex(array, samples) for key, array in block.case_values().items()}
    values |= {key: _complex(array, samples) for key, array in motions(block).values(0).items()}
    values |= {"weight": weights[None, None] + 0j, "held": np.zeros((1, 0, samples), complex)}
    values |= {FRICTION: block.friction + 0j, PARAMETERS: block.designs.parameters + 1j * STEP * np.eye(count)}
    values |= {
        key: array[..., 0]
        for key, array in evaluate(mount_program(block.family), {PARAMETERS: values[PARAMETERS][..., None]}).items()
    }
    for stage in stages(request):
        outputs = evaluate(stage.program, stage.inputs(values))
        values |= {stage.gives(name): array for name, array in outputs.items()}
    metrics = {name: _finished(name, values, block, float(weights.sum())) for name in block.metrics}
    return metrics | _series(block, request, values)


def _series(block: Block, request: Request, values: Values) -> dict[str, np.ndarray]:
    """Return the series (component, parameter), from real and imaginary parts of the values of all stages."""
    count, samples = block.designs.parameters.shape[1], len(block.times)
    parts: list[dict[str, np.ndarray]] = []
    for part in (np.real, np.imag):
        shapes = {name: QUANTITIES[name].dims for name in block.series}
        inner = {name: block.shape(dims[dims.index("time") + 1 :]) for name, dims in shapes.items()}
        parts.append({name: np.full((count, samples, *shape), np.nan) for name, shape in inner.items()})
        rows = {key: np.ascontiguousarray(part(array)) for key, array in values.items()}
        rows = {key: np.broadcast_to(x, (count, *x.shape[1:])) if x.ndim == TIMED else x for key, x in rows.items()}
        fill_of_stages(parts[-1], request, block.groups, rows, samples)
    real, imaginary = parts
    return {name: (real[name] + 1j * imaginary[name]).reshape(count, -1).T for name in block.series}


def _complex(array: np.ndarray, samples: int) -> Any:
    return array[..., :samples] + 0j if array.ndim == 3 else array + 0j


def _finished(name: str, values: Values, block: Block, duration: float) -> np.ndarray:
    """Return a metric (component, parameter), reduced over the samples and finished."""
    count, mechanism = block.designs.parameters.shape[1], block.family.reference
    if name == "peak_reaction":
        most = max(len(limb.joints) for limb in mechanism.limbs)
        parts = []
        for k in range(len(mechanism.instances)):
            wrench: Any = values[Indexed("joint_reaction", k)]
            force = wrench.reshape(len(wrench), -1, len(TWIST), wrench.shape[-1])[:, :, 3:]
            size = np.sqrt((force * force).sum(axis=2))
            parts.append(np.pad(size, ((0, 0), (0, most - size.shape[1]), (0, 0)), constant_values=np.nan))
        found: Any = np.concatenate(parts, axis=1)
    else:
        found = values[name]
    found = np.broadcast_to(found, (count, *found.shape[1:]))
    if reduction(name) == "sum":
        reduced = found.sum(axis=-1)
    else:
        sign = 1.0 if reduction(name) == "max" else -1.0
        best = np.argmax(sign * found.real, axis=-1)[..., None]
        reduced = np.take_along_axis(found, best, axis=-1)[..., 0]
    if name in actuators.METRICS:
        reduced = actuators.METRICS[name].finished(reduced, duration, axis=1)
    elif name in poses.METRICS:
        reduced = poses.METRICS[name].finish(reduced, len(block.times), len(mechanism.freedoms))
    return np.asarray(reduced.T)


def main(arguments: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("robots", nargs="*", default=list(ROBOTS))
    parser.add_argument("--series", action="store_true", help="series in place of metrics")
    options = parser.parse_args(arguments)
    heads = ("quantities", "parameters", "derivatives", "kinks", "difference")
    print(f"{'robot':<18}" + "".join(f"{head:>12}" for head in heads) + "  of")
    for name in options.robots:
        found = row(name, SMOOTH_SERIES if options.series else DIFFERENTIABLE)
        counts = "".join(f"{count:>12}" for count in found[:4])
        print(f"{name:<18}{counts}{found.difference:>12.1e}  {found.quantity}", flush=True)


if __name__ == "__main__":
    main()
