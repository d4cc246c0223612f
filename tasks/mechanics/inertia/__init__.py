"""The joint-space inertia matrix and the bias vector of trees: four methods, and each element alone.

`placed` is the tree at a configuration, from which `explicit`, `momentum`, `pseudo_inertia` and `crba` start;
`link_axes` is `crba` in axes of the links, with fewer operations for trees that are not deep; `methods` is the table of
the methods. Programs of kernels are in `tasks.dynamics.inertia`, closed loops and platforms in
`tasks.mechanics.equations`.
"""

from tasks.mechanics.inertia.methods import METHODS, inertia_matrix

__all__ = ["METHODS", "inertia_matrix"]
