"""Studies on results: which designs are feasible, which are best, what matters, and where to look next.

`problem` and `optimisation`, and `one_at_a_time` on request, call the kernels in this process; all else works on an
opened dataset and computes no mechanics. Nothing here needs a cluster.

- `columns`: parameters and metrics as one number for each design; objectives and conditions on them
- `pareto`: designs that no other beats; `ranking`: an order by weights
- `sensitivity`: variance-based indices from samples, from a Saltelli design, or from a function; interaction plots
- `one_at_a_time`: one parameter after another over its range
- `refinement`: the next sweep, around the best designs
- `problem`, `optimisation`: metrics and their exact derivatives as functions of a design, and local optimisation
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pipeline.study.columns import column, feasible, objective, value_of
    from pipeline.study.optimisation import optimise
    from pipeline.study.pareto import front, layers
    from pipeline.study.problem import DesignProblem
    from pipeline.study.ranking import rank
    from pipeline.study.refinement import refine

__all__ = [
    "DesignProblem",
    "column",
    "feasible",
    "front",
    "layers",
    "objective",
    "optimise",
    "rank",
    "refine",
    "value_of",
]

_HOMES = {
    "DesignProblem": "problem",
    "column": "columns",
    "feasible": "columns",
    "front": "pareto",
    "layers": "pareto",
    "objective": "columns",
    "optimise": "optimisation",
    "rank": "ranking",
    "refine": "refinement",
    "value_of": "columns",
}


def __getattr__(name: str) -> Any:
    """Loads what the package offers from the module that has it."""
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(f"pipeline.study.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
