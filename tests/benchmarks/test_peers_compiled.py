"""Engines that are compiled here do what the wheel does, and are compiled once; what they lack is said."""

from __future__ import annotations

import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.peers.bodies import skeleton
from benchmarks.peers.compiled import compiler
from benchmarks.peers.engines import ENGINES, Engine
from benchmarks.peers.made import made_tree

GRAVITY = (0.7, -0.4, -9.6)
JOBS = ("inverse_dynamics", "forward_dynamics", "inertia_matrix", "reactions")
WHEEL, COMPILED = ENGINES[0], [engine for engine in ENGINES if engine.headers]

needs_compiler = pytest.mark.skipif(shutil.which(compiler.COMPILER) is None, reason=f"needs {compiler.COMPILER}")


@pytest.fixture(params=[pytest.param(engine, id=engine.name, marks=pytest.mark.slow) for engine in COMPILED])
def engine(request: pytest.FixtureRequest) -> Engine:
    """An engine that can be compiled."""
    found: Engine = request.param
    if not found.here:
        pytest.skip(f"nothing to compile: {found.name} needs {found.missing}")
    return found


def motion(size: int, count: int = 10) -> Any:
    """Positions, rates and accelerations or torques, the last in another order of memory."""
    q, qd, qdd = np.random.default_rng(4).normal(size=(3, count, size))
    return q, qd, np.asfortranarray(qdd)


def test_every_job_has_the_results_of_the_wheel(engine: Engine) -> None:
    """Compare on a tree with joints of both kinds and branches, in general position."""
    bones = skeleton(made_tree("made", 6, branches=True).reference)
    kinds = ("revolute", "prismatic") * 3
    pairs = zip(bones.bodies, kinds, strict=True)
    bones = replace(bones, bodies=tuple(replace(body, kind=kind) for body, kind in pairs))
    own, wheel = (each.tree(bones, GRAVITY) for each in (engine, WHEEL))
    for job in JOBS:
        if job in engine.ways:
            given = motion(bones.size)[: 1 if job == "inertia_matrix" else 3]
            found, expected = (np.array(getattr(tree, job)(*given)) for tree in (own, wheel))
            if job == "inertia_matrix":
                found, expected = np.triu(found), np.triu(expected)
            np.testing.assert_allclose(found, expected, atol=1e-12 * np.abs(expected).max())


def test_other_numbers_of_samples_have_other_results(engine: Engine) -> None:
    bones = skeleton(made_tree("made", 6).reference)
    tree = engine.tree(bones, GRAVITY)
    given = motion(bones.size, 19)
    whole = np.array(tree.inverse_dynamics(*given))
    for part in (slice(0, 1), slice(1, 4), slice(2, 19)):
        found = tree.inverse_dynamics(*(each[part] for each in given))
        np.testing.assert_allclose(found, whole[part], atol=1e-13 * np.abs(whole).max())


def test_denormal_numbers_are_left_alone(engine: Engine) -> None:
    """A library linked with options of quick arithmetic would have the whole process round them to zero."""
    bones = skeleton(made_tree("made", 6).reference)
    engine.tree(bones, GRAVITY).inverse_dynamics(*motion(bones.size))
    assert np.all(np.full(3, 1e-310) * 0.5 > 0.0)


@needs_compiler
def test_what_is_kept_is_not_compiled_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LIMBSWEEP_CACHE", str(tmp_path))
    tmp_path.chmod(0o700)
    calls: list[tuple[str, ...]] = []
    compile_ = compiler._compile
    monkeypatch.setattr(compiler, "_compile", lambda *given: (calls.append(given[2]), compile_(*given))[1])
    text = "int number(void) { return NUMBER; }"
    for option in ("-DNUMBER=1", "-DNUMBER=1", "-DNUMBER=2"):
        assert compiler.library(text, "c", [option]).number() == int(option[-1])
    assert [each[0] for each in calls] == ["-DNUMBER=1", "-DNUMBER=2"]


@needs_compiler
@pytest.mark.parametrize("wrong", ["int number(", "int other(void); int number(void) { return other(); }"])
def test_what_the_compiler_refuses_is_said(wrong: str) -> None:
    with pytest.raises(RuntimeError, match=r"(?s)g\+\+: got status 1 with .*\n.*(error|undefined)"):
        compiler.library(wrong, "c", ["-O1"])


def test_missing_headers_and_compilers_are_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(compiler, "USUAL", tmp_path)
    monkeypatch.setattr(compiler, "HEADERS", {"Eigen": "no/such/file.h", "CppAD": "nor/this.hpp"})
    assert compiler.missing(["Eigen", "CppAD"]) == "headers of Eigen and CppAD; install limbsweep[peers]"
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    header = tmp_path / "cmeel.prefix/include/eigen3/no/such/file.h"
    header.parent.mkdir(parents=True)
    header.touch()
    assert compiler.missing(["Eigen"]) == ""
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert compiler.missing(["Eigen"]) == "g++; install it with the packages of the system"
