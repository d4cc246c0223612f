"""Inverse dynamics of an arm on a graphics card: our kernels beside MuJoCo's MJX, the same model and number of states.

`python -m benchmarks.card_peers` needs a card of NVIDIA, the extra `gpu`, and the packages `mujoco-mjx` and
`jax[cuda13]`. Both return the largest torque of each joint: MJX reads joint positions, rates and accelerations from the
card's memory, and so do our kernels, which also evaluate their metrics for each design. `--cpu` computes on the
processor, to try the command.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from typing import Any

import numpy as np

from benchmarks.cards import CASES, best
from robots import catalog
from robots.devices import Device
from robots.formats.exporting import text
from robots.model import Robot
from tasks.blocks.assembly import Assembly
from tasks.blocks.block import Block, motions
from tasks.blocks.motions import Motions
from tasks.dynamics.inverse import inverse_dynamics

ARM = "panda"
STATES = 1 << 20
COMPARED = 64
"""States of which the torques of both are compared."""


def lines(states: int, device: Device) -> Iterator[str]:
    """Yield states a second of both in each precision, and how far torques differ."""
    import jax
    import mujoco
    from mujoco import mjx

    model = mujoco.MjModel.from_xml_string(text(catalog.family(ARM).reference, ARM, (), ".xml"))
    arm = Robot.of(catalog.family(ARM), {})
    for precision, kind in (("double", "float64"), ("single", "float32")):
        jax.config.update("jax_enable_x64", precision == "double")
        motion = np.random.default_rng(1).uniform(-1.0, 1.0, (3, states, model.nq)).astype(kind)
        there, blank = mjx.put_model(model), mjx.make_data(model)

        def torque(q, rate, acceleration, there=there, blank=blank):  # type: ignore[no-untyped-def]
            return mjx.inverse(there, blank.replace(qpos=q, qvel=rate, qacc=acceleration)).qfrc_inverse

        every = jax.vmap(torque)
        few = motion[:, :COMPARED].astype(float)
        expected = inverse_dynamics(arm, q=few[0], qd=few[1], qdd=few[2]).force
        error = np.abs(np.asarray(jax.jit(every)(*motion[:, :COMPARED])) - expected).max()
        peaks = jax.jit(lambda *given, every=every: abs(every(*given)).max(axis=0))
        given = jax.device_put(list(motion))
        theirs = states / best(partial(_finished, peaks, given))
        designs = max(1, states // 512)
        block = replace(CASES["arm of seven joints"].block(designs, precision), device=device)
        ours = block.samples / best(partial(_computed, block, motions(block)))
        yield (
            f"{precision}: {ours:.3g} states/s, MJX {version('mujoco-mjx')} on {jax.devices()[0].platform} "
            f"{theirs:.3g} states/s, ratio {ours / theirs:.1f}; torques differ by {error:.1e} N m"
        )


def _computed(block: Block, root: Motions) -> None:
    """Compute a block."""
    Assembly(block, root, None).run()


def _finished(call: Callable[..., Any], given: Sequence[Any]) -> None:
    """Call a function of JAX and wait for its result."""
    call(*given).block_until_ready()


def main() -> int:
    """Print the lines."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.card_peers", description="MJX on the same card.")
    parser.add_argument("--states", type=lambda word: int(float(word)), default=STATES)
    parser.add_argument("--cpu", action="store_true")
    given = parser.parse_args()
    for line in lines(given.states, "cpu" if given.cpu else "gpu"):
        print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
