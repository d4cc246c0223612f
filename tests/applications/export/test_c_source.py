"""Equations as C, compiled by the compiler of the system, against the functions on arrays: the same bits."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tasks
from applications.export.code.c_source import CCode, c_code
from applications.export.code.functions import FUNCTIONS
from benchmarks import regions
from robots import catalog
from robots.model import Robot
from robots.status import Status
from tasks.dynamics.inverse import actuator_positions
from tasks.dynamics.records import Forces

COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
SAMPLES = 3
FRICTION = [
    {"law": "stribeck", "joints": "actuated", "coulomb": 0.2, "static": 0.3, "viscous": 0.1},
    {"law": "coulomb_viscous", "joints": "passive", "coulomb": 0.05, "viscous": 0.02},
]
Compiled = Callable[..., tuple[int, list[np.ndarray]]]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Callable[[CCode], Mapping[str, Compiled]]:
    if COMPILER is None:
        pytest.skip("no C compiler is here")
    folder = tmp_path_factory.mktemp("code")

    def build(code: CCode) -> Mapping[str, Compiled]:
        (folder / f"{code.name}.h").write_text(code.header)
        (folder / f"{code.name}.c").write_text(code.source)
        library = folder / f"{code.name}.so"
        strict = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-O0", "-ffp-contract=off"]
        command = [str(COMPILER), *strict, "-shared", "-fPIC", f"{code.name}.c", "-o", str(library), "-lm"]
        subprocess.run(command, check=True, cwd=folder, timeout=120)
        return functions_of(code, library)

    return build


def functions_of(code: CCode, library: Path) -> Mapping[str, Compiled]:
    """The functions of a header as Python functions of arrays, which give status and results."""
    loaded = ctypes.CDLL(str(library))

    def bound(name: str, results: list[int]) -> Compiled:
        call = getattr(loaded, f"{code.name}_{name}")

        def run(*arguments: np.ndarray) -> tuple[int, list[np.ndarray]]:
            given, out = [np.ascontiguousarray(x, dtype=float) for x in arguments], [np.empty(n) for n in results]
            pointers = [x.ctypes.data_as(ctypes.POINTER(ctypes.c_double)) for x in (*given, *out)]
            return call(*pointers), out

        return run

    prototypes = re.findall(rf"int {code.name}_(\w+)\((.*?)\);", code.header, flags=re.S)
    return {name: bound(name, [int(n) for n in re.findall(r"_out\[(\d+)\]", text)]) for name, text in prototypes}


def columns(robot: Robot, states: Any, k: int) -> list[np.ndarray]:
    """Motion arguments of sample k in the order of a header: those of the pose, the rates, the accelerations."""
    names = ("q", "qd", "qdd") if robot.mechanism.is_chain else ("position", "rotation", "twist", "acceleration")
    parts = {name: np.asarray(states[name])[k] for name in names if name in states}
    if robot.mechanism.is_chain:
        return [parts[name] for name in names]
    if {"wx", "wy", "wz"}.isdisjoint(robot.mechanism.platform.mobility):
        return [parts["position"], parts["twist"][3:], parts["acceleration"][3:]]
    return [parts[name].ravel() for name in names]


@pytest.mark.parametrize("name", ["five_axis_tree", "three_loop_leg", "gough_stewart"])
def test_compiled_functions_have_the_bits_of_kernels(
    name: str, built: Callable[[CCode], Mapping[str, Compiled]]
) -> None:
    robot = catalog.build(name)
    functions = built(c_code(robot, gravity=(0.3, -1.0, -9.0)))
    assert [*functions] == [*FUNCTIONS]
    states: Any = regions.states(robot, SAMPLES)
    pose = {key: value for key, value in states.items() if key not in ("acceleration", "qdd")}
    force = tasks.inverse_dynamics(robot, **states, gravity=(0.3, -1.0, -9.0)).force
    change = tasks.forward_dynamics(
        robot, gravity=(0.3, -1.0, -9.0), forces=Forces(actuator=0.5 * force), **pose
    ).acceleration
    inertia, done = tasks.inertia_matrix(robot, **pose).matrix, tasks.inverse_dynamics(robot, **states)
    positions = actuator_positions(robot, **pose).position
    free = [
        ("wx", "wy", "wz", "vx", "vy", "vz").index(x) for x in robot.mechanism.freedoms if not robot.mechanism.is_chain
    ]
    for k in range(SAMPLES):
        motion = columns(robot, states, k)
        last, first = motion[:-1], motion[: 2 if len(motion) == 4 else 1]
        assert same(functions["inverse_dynamics"](*motion), force[k])
        assert same(functions["forward_dynamics"](*last, 0.5 * force[k]), change[k][free] if free else change[k])
        assert same(functions["inertia_matrix"](*first), inertia[k].ravel())
        status, (position, velocity, jacobian) = functions["inverse_kinematics"](*last)
        assert status == 0
        np.testing.assert_array_equal(position, positions[k])
        np.testing.assert_allclose(velocity, done.velocity[k], rtol=1e-14)
        np.testing.assert_array_equal(jacobian, done.jacobian[k].ravel())


def test_the_inertia_matrix_of_a_closed_chain_has_the_bits_of_its_kernel(
    built: Callable[[CCode], Mapping[str, Compiled]],
) -> None:
    robot = catalog.build("three_loop_leg")
    q = regions.states(robot, SAMPLES)["q"]
    expected, run = tasks.inertia_matrix(robot, q=q), built(c_code(robot, ["inertia_matrix"]))["inertia_matrix"]
    for k in range(SAMPLES):
        assert same(run(q[k]), expected.matrix[k].ravel())


def same(found: tuple[int, list[np.ndarray]], expected: np.ndarray) -> bool:
    """Return whether a sample is OK with these bits; signs of zeros do not count."""
    return found[0] == 0 and np.array_equal(found[1][0], expected)


def test_parameters_are_arguments(built: Callable[[CCode], Mapping[str, Compiled]]) -> None:
    robot, names = catalog.build("delta_3rr2rrr"), ("upper_arm", "payload_mass", "base_radius", "friction[1].viscous")
    run = built(c_code(robot, ["inverse_dynamics"], friction=FRICTION, parameters=names))["inverse_dynamics"]
    states: Any = regions.states(robot, SAMPLES)
    other = catalog.build("delta_3rr2rrr", upper_arm=0.26, payload_mass=0.7, base_radius=0.16)
    rubbing = [FRICTION[0], {**FRICTION[1], "viscous": 0.05}]
    expected = tasks.inverse_dynamics(other, forces=Forces(friction=rubbing), **states).force
    for k in range(SAMPLES):
        motion = columns(robot, states, k)
        assert same(run(*motion, np.array([0.26, 0.7, 0.16, 0.05])), expected[k])
    code = c_code(robot, ["inertia_matrix"], parameters=["upper_arm"])
    assert "const double parameters[1]" in code.header
    assert "upper_arm =" not in code.header


def test_friction_and_failed_samples(built: Callable[[CCode], Mapping[str, Compiled]]) -> None:
    robot = catalog.build("five_bar", payload_mass=1.5)
    code = c_code(robot, ["inverse_dynamics"], friction=FRICTION, name="rubbing")
    run = built(code)["inverse_dynamics"]
    states: Any = regions.states(robot, SAMPLES)
    expected = tasks.inverse_dynamics(robot, forces=Forces(friction=FRICTION), **states).force
    for k in range(SAMPLES):
        assert same(run(*columns(robot, states, k)), expected[k])
    status, (force,) = run(np.array([5.0, 0.0, -0.6]), np.zeros(3), np.zeros(3))
    assert status == Status.NOT_REACHABLE
    assert np.isnan(force).all()
    assert "payload_mass = 1.5 kg" in code.header


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((["inverse_dynamic"],), "did you mean|inverse_dynamics"),
        (([],), "functions: got none"),
        ((["inertia_matrix"], {"friction": FRICTION}), "friction: got some for inertia_matrix"),
        ((["inertia_matrix"], {"name": "a b"}), "a name of C"),
        ((["inverse_dynamics"], {"friction": {"law": "lugre"}}), "has a state"),
        ((["inverse_dynamics"], {"gravity": [1.0]}), "gravity: got an array of shape"),
    ],
)
def test_what_has_no_code_is_refused(arguments: tuple[Any, ...], message: str) -> None:
    names, options = arguments[0], arguments[1] if len(arguments) > 1 else {}
    with pytest.raises(ValueError, match=message):
        c_code(catalog.build("five_bar"), names, **options)
