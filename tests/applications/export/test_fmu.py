"""Chains as Functional Mock-up Units: FMPy finds no fault with them and simulates them as `simulate` does."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import limbsweep as ls
from tasks.dynamics.simulate import simulate_adaptive

COMPILER = shutil.which("cc")
DOWN = (0.0, -9.81, 0.0)


@pytest.fixture
def fmpy() -> Any:
    if COMPILER is None:
        pytest.skip("no C compiler is here")
    return pytest.importorskip("fmpy", reason="no FMPy; install limbsweep[test-fmu]")


@pytest.mark.parametrize("name", ["planar_3r", pytest.param("three_loop_leg", marks=pytest.mark.slow)])
def test_a_unit_moves_as_the_robot(name: str, tmp_path: Path, fmpy: Any) -> None:
    from fmpy.validation import validate_fmu

    robot, times = ls.robots.build(name), np.linspace(0.0, 0.2, 21)
    freedoms, actuators = robot.mechanism.freedoms, robot.mechanism.actuators
    unit = ls.fmu(robot, tmp_path / "unit.fmu", gravity=DOWN)
    assert validate_fmu(str(unit)) == []
    start, rates = np.linspace(0.1, 0.3, len(freedoms)), np.linspace(-1.0, 0.5, len(freedoms))
    force = np.linspace(1.0, -0.5, len(actuators))
    known = {f"position.{x}": value for x, value in zip(freedoms, start, strict=True)}
    known |= {f"rate.{x}": value for x, value in zip(freedoms, rates, strict=True)}
    known |= {f"force.{x}": value for x, value in zip(actuators, force, strict=True)}
    result = fmpy.simulate_fmu(
        str(unit), fmi_type="ModelExchange", solver="CVode", relative_tolerance=1e-10, stop_time=times[-1],
        output_interval=times[1], start_values=known, output=[f"position.{x}" for x in freedoms],
    )  # fmt: skip
    found = np.stack([result[f"position.{x}"] for x in freedoms], axis=1)
    motion: Any = simulate_adaptive(robot, force=force, q=start, qd=rates, times=times, gravity=DOWN)
    np.testing.assert_allclose(found, motion.q, atol=1e-7)


def test_units_are_sources_where_there_is_no_compiler_and_the_same_for_the_same_robot(tmp_path: Path) -> None:
    robot = ls.robots.build("planar_3r")
    one, other = (ls.fmu(robot, tmp_path / f"{k}.fmu", compiler=None).read_bytes() for k in range(2))
    assert one == other
    with pytest.raises(ValueError, match="compiler: got no compiler 'tcc-9'; expected one of C"):
        ls.fmu(robot, tmp_path / "a.fmu", compiler="tcc-9")
    with pytest.raises(ValueError, match="got five_bar with a platform; expected a chain, as by limbsweep"):
        ls.fmu(ls.robots.build("five_bar"), tmp_path / "a.fmu")
