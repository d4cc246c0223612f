"""Sizes of the forces that joints carry, and how they change along directions in the space of design parameters.

The chain of `tasks.blocks.reactions` after the assembly: friction of passive joints, the platform's balance, the joints
of each limb, each by the pushforward of its program. Arrays of rates end with SUFFIX, as elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from robots.status import Status
from robots.types import TWIST
from tasks.blocks.block import Arrays, Block
from tasks.kernels.kernel import padded
from tasks.kernels.program import Program
from tasks.kernels.pushforward import SUFFIX
from tasks.mechanics.structure import structure_of
from tasks.programs.actuation import actuation_program
from tasks.programs.reactions import balance_program, reaction_program

WRENCH = "joint_reaction"
BOTH = ("", SUFFIX)
Run = Callable[[Program, Mapping[str, np.ndarray]], Arrays]


@dataclass(frozen=True)
class Sizes:
    """Sizes of forces (case, limb, joint, sample), and their rates; NaN for a failed sample, or where no joint is."""

    values: np.ndarray
    rates: np.ndarray


@dataclass(frozen=True)
class ReactionRates:
    """A block whose programs `run` differentiates; `case` are inputs per case, `mounts` those of the limbs."""

    block: Block
    run: Run
    case: Mapping[str, np.ndarray]
    mounts: Mapping[str, np.ndarray]
    samples: int

    @property
    def sets(self) -> np.ndarray:
        """Friction sets (set, parameter) that change what joints carry: the first alone without passive friction."""
        return self.block.friction if any(self.block.passive) else self.block.friction[:1]

    def of(self, given: Mapping[str, np.ndarray], motion: np.ndarray, friction: np.ndarray) -> Sizes:
        """Sizes for one friction set, from what limbs, platform and assembly gave on one motion."""
        loads = self._loads(given, friction)
        balance = balance_program(self.block.family, tuple(map(len, self.block.passive)))
        loads |= self.run(balance, {**given, **loads})
        limbs = [self._limb(k, loads, motion) for k in range(len(self.block.passive))]
        bad = np.where(loads["status"][:, 0, : self.samples] != Status.OK, np.nan, 0.0)[:, None, None]
        values, rates = (_stacked([each[kind] for each in limbs]) for kind in (0, 1))
        return Sizes(values + bad, rates + bad)

    def _loads(self, given: Mapping[str, np.ndarray], friction: np.ndarray) -> Arrays:
        """Forces of the actuators without their own friction, friction of passive joints, status."""
        names = [f"rubbing_{k}" for k, each in enumerate(self.block.passive) if each]
        if not names:
            return {name: given[name] for name in (*_both("force"), "status")}
        program = actuation_program(self.block.family, self.block.groups, ("net_force", *names), ())
        unused = {"weight": np.zeros((1, 1, padded(self.samples)))}  # nothing is integrated
        out = self.run(program, {**given, **self.case, **unused, "friction": friction[None]})
        forces = {f"force{end}": out[f"net_force{end}"] for end in BOTH}
        return forces | {each: out[each] for name in names for each in _both(name)} | {"status": given["status"]}

    def _limb(self, k: int, loads: Mapping[str, np.ndarray], motion: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Sizes of the forces in the joints of limb k (case, joint, sample), and their rates."""
        made, passive = structure_of(self.block.family), self.block.passive[k]
        program = reaction_program(self.block.family, made.mechanism.instances[k].limb, (WRENCH,), passive)
        inputs = {**self.case, "motion": motion[None]} | {f"mount{end}": self.mounts[f"mount_{k}{end}"] for end in BOTH}
        for end in BOTH:
            inputs |= {f"force{end}": loads[f"force{end}"][:, made.driven[k]]}
            inputs |= {f"redundant{end}": loads[f"redundant_{k}{end}"]}
            inputs |= {f"rubbing{end}": loads[f"rubbing_{k}{end}"]} if passive else {}
        out = self.run(program, inputs)
        force, rate = (self._forces(out[f"{WRENCH}{end}"]) for end in BOTH)
        size = np.sqrt((force * force).sum(axis=2))
        # a joint that carries nothing has a size with a kink: what it changes by is then not known, and zero is told
        return size, (force * rate).sum(axis=2) / np.where(size > 0.0, size, 1.0)

    def _forces(self, wrenches: np.ndarray) -> np.ndarray:
        """Forces (case, joint, 3, sample) in rows of wrenches (case, component, padded time)."""
        rows = wrenches[..., : self.samples]
        return rows.reshape(len(rows), -1, len(TWIST), self.samples)[:, :, 3:]


def _both(name: str) -> Iterator[str]:
    """A name and that of its rate."""
    return (f"{name}{end}" for end in BOTH)


def _stacked(limbs: list[np.ndarray]) -> np.ndarray:
    """One array for all limbs, (case, limb, joint, sample); NaN where a limb has fewer joints than another."""
    most = max(each.shape[1] for each in limbs)
    whole = [np.pad(each, ((0, 0), (0, most - each.shape[1]), (0, 0)), constant_values=np.nan) for each in limbs]
    return np.stack(whole, axis=1)
