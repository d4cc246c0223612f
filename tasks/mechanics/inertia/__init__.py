"""The joint-space inertia matrix and the bias vector of trees: four methods, and each element alone.

`placed` is the tree at a configuration, from which `explicit`, `momentum`, `pseudo_inertia` and `crba` start;
`methods` is the table of these methods, `programs` has the programs of kernels. Closed loops and platforms are in
`tasks.mechanics.equations`.
"""

from tasks.mechanics.inertia.methods import METHODS, inertia_matrix

__all__ = ["METHODS", "inertia_matrix"]
