"""Quantities of simulations: each is that of the same motion given, or is refused with its reason."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline.errors import InputError, Problem
from pipeline.execution import work
from pipeline.execution.blocks import block_of
from pipeline.plan.plan import plan
from pipeline.sweep.model import Sweep
from pipeline.sweep.needs import FULL, MotionSource, availability, lacking_of
from robots.limits import Capacity
from robots.model import Mechanism
from robots.quantities import QUANTITIES, Quantity
from robots.requested import QuantityNames
from tasks.blocks import assembly, limb_results
from tasks.blocks.block import Block, motions
from tasks.blocks.pool import Arrays
from tasks.blocks.reactions import reactions
from tasks.blocks.series import gathered, wide
from tasks.stages.metrics.actuators import METRICS, UNKNOWN, Sample

SWAY = {"kind": "line_sine", "amplitude": [0.05, 0.02, 0.0], "period": 0.5}
CRITERIA = {
    "stiffness": {
        "actuators": {"all": 2.0e4},
        "links": {
            "arm": {"tube": [0.05, 0.044], "young": 70.0e9, "poisson": 0.33},
            "rod_*": {"tube": [0.012, 0.010], "young": 120.0e9, "poisson": 0.3},
            "elbow": {"tube": [0.02], "young": 200.0e9},
            "wrist": {"tube": [0.02], "young": 200.0e9},
        },
        "load": [0.0, 0.0, 0.0, 0.0, 0.0, -50.0],
    },
    "accuracy": {
        "resolution": {"all": 2.0e-5},
        "lengths": {"arm": 2.0e-5, "rod_*": 1.0e-5},
        "expansion": {"arm": 23.0e-6, "rod_*": 1.0e-6},
        "warming": 15.0,
    },
    "clearances": {"joints": {"all": {"radial": 1.0e-5, "axial": 5.0e-6}}},
    "capsules": {
        "links": {"arm": 0.03, "rod_*": 0.008},
        "base": [{"start": [0.0, 0.0, -0.2], "end": [0.0, 0.0, 0.0], "radius": 0.05}],
    },
}
DRIVEN = {"kind": "pd_gravity", "parameters": {"kp": 60.0, "kd": 1.0}}
LAW = {"law": "coulomb_viscous", "parameters": {"coulomb": 0.1, "viscous": 0.02, "width": 0.05}}
SYSTEMS: dict[str, dict[str, Any]] = {
    "delta": {
        "robot": "delta_3rr2rrr",
        "trajectories": {
            "move": {
                "kind": "quintic",
                "end": [0.1, 0.05, -0.05],
                "duration": 0.1,
                "load": {"force": [0.0, 3.0, -5.0]},
            }
        },
        "simulation": {"controller": DRIVEN},
        "base": SWAY,
        "time": {"stop": 0.03, "step": 0.001},
        "limits": {
            "actuators": {"all": {"force": 30.0, "velocity": 20.0}},
            "joints": {"limb1.2": {"position": [-2.0, 2.0], "velocity": 10.0}},
        },
    },
    "criteria": {
        "robot": "delta_3rr2rrr",
        "trajectories": {"move": {"kind": "quintic", "end": [0.1, 0.05, -0.05], "duration": 0.1}},
        "simulation": {"controller": DRIVEN},
        "time": {"stop": 0.02, "step": 0.001},
        "criteria": CRITERIA,
    },
    "friction": {
        "robot": "delta_3rr2rrr",
        "trajectories": {"move": {"kind": "quintic", "end": [0.1, 0.05, -0.05], "duration": 0.1}},
        "friction": {**LAW, "joints": "all", "load": "reaction"},
        "simulation": {"controller": DRIVEN},
        "time": {"stop": 0.03, "step": 0.001},
    },
    "turning": {
        "robot": "planar_3rrr",
        "trajectories": {"move": {"kind": "quintic", "end": [0.02, 0.01, 0.0], "duration": 0.1}},
        "friction": {**LAW, "joints": "passive"},
        "simulation": {"controller": DRIVEN, "state": {"list": {"yaw": [0.1], "yaw_rate": [1.0]}}},
        "time": {"stop": 0.03, "step": 0.001},
    },
    "chain": {
        "robot": "planar_3r",
        "gravity": [0.0, -9.81, 0.0],
        "friction": LAW,
        "simulation": {"forces": {"push": {"file": "push.csv"}}, "state": {"list": {"joint_1": [0.2]}}},
        "time": {"stop": 0.03, "step": 0.001},
        "limits": {"actuators": {"all": {"force": 3.0, "power": 20.0}}},
    },
    "motors": {
        "robot": "delta_rl5_1450_motors",
        "trajectories": {"pick": {"kind": "quintic", "start": [-0.15, 0, 0], "end": [0.15, 0, 0.05], "duration": 0.1}},
        "friction": LAW,
        "simulation": {
            "controller": {"kind": "pd_gravity", "parameters": {"kp": 5.0, "kd": 0.05}},
            "saturation": True,
            "tolerance": 1.0,
        },
        "limits": {"actuators": {"all": {"current": 5.0, "voltage": 150.0, "rated_current": 3.0}}},
        "time": {"stop": 0.02, "step": 0.001},
    },
}
PUSH = "t,joint_1,joint_2,joint_3\n0,0,0,0\n0.1,1,0.5,0.2\n"
KINDS = {"outputs": ("series", "motion"), "metrics": ("metric",)}


@dataclass(frozen=True)
class Simulated:
    """A simulated block of one case, its arrays (time, ...), and the same of its motion as if it were given."""

    sweep: Sweep
    block: Block
    arrays: Arrays
    given: Arrays
    refused: dict[str, str]

    @property
    def mechanism(self) -> Mechanism:
        return self.block.family.reference

    def of_case(self, name: str) -> np.ndarray:
        """A variable of the one case."""
        values = self.arrays[name]
        return values.reshape(values.shape[lead(self.block) :])


def lead(block: Block) -> int:
    """Return the number of dims that variables have for cases."""
    return 3 + len(block.simulation.dims if block.simulation else ())


def offered(key: str) -> list[str]:
    return [row.name for row in QUANTITIES.values() if row.kind in KINDS[key] and row.stage != "sensors"]


def refusals(text: dict[str, Any], folder: Path) -> dict[str, str]:
    """Quantities that the sweep is refused for, with the reason that it is told."""
    result = {}
    for key in KINDS:
        names = offered(key)
        problems: tuple[Problem, ...] = ()
        try:
            Sweep.from_dict({**text, "outputs": [], "metrics": [], key: names}, folder=folder)
        except InputError as error:
            problems = error.problems
        for problem in problems:
            assert problem.key.startswith(f"{key}["), problem
            result[names[int(problem.key[len(key) + 1 : -1])]] = problem.hint
    return result


def along_simulated(block: Block, arrays: Arrays) -> Arrays:
    """Return the block's quantities of its motion as a given one, whose forces are solved for (case, time, ...)."""
    times, case = len(block.times), (0,) * lead(block)
    if block.family.reference.is_chain:
        joints = len(block.family.reference.freedoms)
        names = ("joint_position", "joint_velocity", "joint_acceleration")
        parts = [arrays[name][case][:, 0, :joints] for name in names]
    else:
        parts = [arrays[f"platform_{name}"][case] for name in ("position", "rotation", "twist", "acceleration")]
        turned = motions(block).motion.shape[1] != 9
        parts = parts if turned else [parts[0], parts[2][:, 3:], parts[3][:, 3:]]
    flat = np.concatenate([part.reshape(times, -1) for part in parts], axis=1)
    root = replace(motions(block), motion=wide(np.ascontiguousarray(flat.T)[None]))
    series, metrics = (
        tuple(name for name in names if QUANTITIES[name].stage != "simulation")
        for names in (block.series, block.metrics)
    )
    given = replace(block, simulation=None, quantities=QuantityNames(series, metrics))
    assembled = assembly.assembled(
        given, root, [limb_results.limb_arrays(given, root, k) for k in range(len(_limbs(block)))]
    )
    limbs = range(len(_limbs(block))) if assembled.loads else ()
    return assembled.arrays | gathered([reactions(given, root, assembled.loads, k) for k in limbs])


def _limbs(block: Block) -> Any:
    return block.family.reference.instances


@pytest.fixture(scope="module", params=SYSTEMS)
def simulated(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Simulated:
    folder = tmp_path_factory.mktemp("simulated")
    (folder / "push.csv").write_text(PUSH)
    text = SYSTEMS[request.param]
    refused = refusals(text, folder)
    names = {key: [name for name in offered(key) if name not in refused] for key in KINDS}
    sweep = Sweep.from_dict({**text, **names}, folder=folder)
    block = block_of(plan(sweep), 0)
    arrays = work.whole(block)
    assert (arrays["worst_status"] == 0).all()
    return Simulated(sweep, block, arrays, along_simulated(block, arrays), refused)


def test_every_quantity_is_there_or_refused_with_its_reason(simulated: Simulated) -> None:
    lacks = lacking_of(simulated.mechanism, simulated.sweep.simulation)
    for name in (*offered("outputs"), *offered("metrics")):
        reasons = [lacks[need] for need in QUANTITIES[name].needs if need in lacks]
        if reasons:
            assert simulated.refused[name] in reasons
        elif name in simulated.refused:  # a section of the file lacks, as for a given motion
            assert simulated.refused[name].startswith(("Add ", "Take it from a sweep without the section base"))
        else:
            assert simulated.arrays[name].size > 0


def test_series_are_those_of_the_same_motion_given(simulated: Simulated) -> None:
    """The forces that this motion takes by inverse dynamics are those that act, and all else follows from both."""
    compared = [name for name in simulated.block.series if QUANTITIES[name].stage != "simulation" and name != "status"]
    assert len(compared) > 30
    for name in compared:
        ours = simulated.of_case(name)
        theirs = simulated.given[name].reshape(ours.shape)
        assert np.array_equal(np.isnan(ours), np.isnan(theirs)), name
        scale = np.nanmax(np.abs(theirs), initial=1e-9) if np.isfinite(theirs).any() else 1.0
        assert np.nanmax(np.abs(ours - theirs), initial=0.0) < 1e-7 * scale, name


def test_metrics_of_poses_and_joints_are_those_of_the_same_motion_given(simulated: Simulated) -> None:
    names = [name for name in simulated.block.metrics if QUANTITIES[name].stage in ("assembly", "reactions")]
    assert len(names) > 10
    substeps = simulated.arrays.get("substeps", np.ones(1))
    assert (substeps == 1).all()  # else the stored times are not all instants
    for name in names:
        ours = simulated.arrays[name].ravel()
        np.testing.assert_allclose(ours, simulated.given[name].ravel(), rtol=1e-7, atol=1e-12, err_msg=name)


def _capacity(simulated: Simulated) -> list[Capacity]:
    known = simulated.block.limits.actuators
    return [known.get(k, Capacity()) for k in range(len(simulated.mechanism.actuators))]


def test_metrics_of_actuators_are_integrals_over_the_steps(simulated: Simulated) -> None:
    """Compare with the rows of given motions on series at the start of steps; forces are held, or linear in time."""
    force, rate = (simulated.of_case(name) for name in ("actuator_force", "actuator_velocity"))
    held = bool(simulated.sweep.simulation and simulated.sweep.simulation.simulation.controller)
    step, mechanism = float(simulated.block.times[1]), simulated.mechanism
    begin, end = force[:-1], force[:-1] if held else force[1:]
    forces = [begin, (begin + end) / 2, end]
    rates = [rate[:-1], (rate[:-1] + rate[1:]) / 2, rate[1:]]
    motors = mechanism.motors or [UNKNOWN] * len(mechanism.actuators)
    for name in METRICS:
        if name not in simulated.arrays or "friction" in name or name == "work":
            continue  # these are states of the integration, or of friction at the end of a step, which no series has
        row = QUANTITIES[name]
        for k, capacity in enumerate(_capacity(simulated)):
            found = [
                METRICS[name].of(Sample(*numbers, w * step, 0.0, motors[k], capacity))
                for u, v, w in zip(forces, rates, (1 / 6, 4 / 6, 1 / 6), strict=True)
                for numbers in zip(u[:, k], v[:, k], u[:, k] * v[:, k], strict=True)
            ]
            reduced = _reduced(row, np.array(found))
            expected = METRICS[name].finished(np.array([reduced]), step * len(begin))
            np.testing.assert_allclose(simulated.of_case(name)[k], expected[0], rtol=1e-9, err_msg=name)


def _reduced(row: Quantity, found: np.ndarray) -> float:
    return float({"max": found.max, "min": found.min, "sum": found.sum}[str(row.reduction)]())


def test_the_table_of_quantities_and_sources() -> None:
    """Print each metric and series with where it works; what is refused has a reason, and nothing is refused twice."""
    given, simulated = availability(MotionSource()), availability(FULL)
    for name in QUANTITIES:
        print(f"{name:30s} | {given[name] or 'works'} | {simulated[name] or 'works'}")
        assert not (given[name] and simulated[name])
    alone = {name for name in QUANTITIES if given[name]}
    assert alone == {name for name, row in QUANTITIES.items() if row.stage == "simulation"}
    assert {name for name in QUANTITIES if simulated[name]} == {
        *("cycle_time", "speed_factor", "friction_residual", "unsettled_samples"),
        *("usable_volume", "reachable_volume"),
    }
