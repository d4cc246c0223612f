"""The same C of Pinocchio's code generation, run for eight samples at once: each of its numbers becomes a vector.

Pinocchio has no such code; a patient user of its code could write it.
"""

from __future__ import annotations

from benchmarks.peers.compiled import generated


class Tree(generated.Tree):
    """Tree for vectors of samples; widths that a processor does not have are made of several of its vectors."""

    lanes = 8
