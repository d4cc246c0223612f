"""Studies on results: which designs are feasible, which are best, what matters, and where to look next.

`problem` and `optimisation`, and `one_at_a_time` on request, call the kernels in this process; `populations` runs
sweeps; all else works on an opened dataset and computes no mechanics.

- `cases`: operating conditions, such as a payload, as a dim of their own
- `bearings`: rating life of bearings of joints
- `space`: what varies, and what follows from it: the factors that all others here ask
- `columns`: parameters and metrics as one number for each design; objectives and conditions on them
- `pareto`: designs that no other beats; `ranking`: an order by weights
- `sensitivity`: variance-based indices from samples, from a Saltelli design, or from a function; interaction plots
- `tolerances`: what deviations of parameters do to a metric, to first order
- `screening`: elementary effects, and means of squared derivatives
- `one_at_a_time`: one parameter after another over its range
- `refinement`: the next sweep, around the best designs
- `populations`: search by NSGA-II, NSGA-III or Parzen estimators, generations computed on a cluster into a store
- `workspaces`: what a robot reaches under conditions, and its largest regular part
- `problem`, `optimisation`: metrics and their exact derivatives as functions of a design, and local optimisation
"""

from typing import TYPE_CHECKING

from robots.loading import on_first_use

if TYPE_CHECKING:
    from pipeline.study.bearings import RollingBearing, bearing_life
    from pipeline.study.cases import by_cases
    from pipeline.study.columns import column, feasible, objective, value_of
    from pipeline.study.one_at_a_time import effects
    from pipeline.study.optimisation import optimise
    from pipeline.study.pareto import front, layers
    from pipeline.study.populations.families import FamilySpace
    from pipeline.study.populations.family_search import search_families
    from pipeline.study.populations.methods import SearchSettings, ask_and_tell, hypervolume
    from pipeline.study.populations.search import search
    from pipeline.study.problem import DesignProblem
    from pipeline.study.ranking import rank
    from pipeline.study.refinement import refine
    from pipeline.study.screening import derivative_measures, morris, morris_designs
    from pipeline.study.sensitivity import from_samples, of_saltelli_store, saltelli, sobol
    from pipeline.study.space import DesignSpace
    from pipeline.study.tolerances import tolerance_effect
    from pipeline.study.workspaces.workspace import Workspace, workspace

__all__ = [
    "DesignProblem",
    "DesignSpace",
    "FamilySpace",
    "RollingBearing",
    "SearchSettings",
    "Workspace",
    "ask_and_tell",
    "bearing_life",
    "by_cases",
    "column",
    "derivative_measures",
    "effects",
    "feasible",
    "from_samples",
    "front",
    "hypervolume",
    "layers",
    "morris",
    "morris_designs",
    "objective",
    "of_saltelli_store",
    "optimise",
    "rank",
    "refine",
    "saltelli",
    "search",
    "search_families",
    "sobol",
    "tolerance_effect",
    "value_of",
    "workspace",
]

_HOMES = {
    "DesignProblem": "pipeline.study.problem",
    "DesignSpace": "pipeline.study.space",
    "FamilySpace": "pipeline.study.populations.families",
    "RollingBearing": "pipeline.study.bearings",
    "SearchSettings": "pipeline.study.populations.methods",
    "Workspace": "pipeline.study.workspaces.workspace",
    "ask_and_tell": "pipeline.study.populations.methods",
    "bearing_life": "pipeline.study.bearings",
    "by_cases": "pipeline.study.cases",
    "column": "pipeline.study.columns",
    "derivative_measures": "pipeline.study.screening",
    "effects": "pipeline.study.one_at_a_time",
    "feasible": "pipeline.study.columns",
    "from_samples": "pipeline.study.sensitivity",
    "front": "pipeline.study.pareto",
    "hypervolume": "pipeline.study.populations.methods",
    "layers": "pipeline.study.pareto",
    "morris": "pipeline.study.screening",
    "morris_designs": "pipeline.study.screening",
    "objective": "pipeline.study.columns",
    "of_saltelli_store": "pipeline.study.sensitivity",
    "optimise": "pipeline.study.optimisation",
    "rank": "pipeline.study.ranking",
    "refine": "pipeline.study.refinement",
    "saltelli": "pipeline.study.sensitivity",
    "search": "pipeline.study.populations.search",
    "search_families": "pipeline.study.populations.family_search",
    "sobol": "pipeline.study.sensitivity",
    "tolerance_effect": "pipeline.study.tolerances",
    "value_of": "pipeline.study.columns",
    "workspace": "pipeline.study.workspaces.workspace",
}

if not TYPE_CHECKING:  # for which there are no other names
    __getattr__, __dir__ = on_first_use(__name__, _HOMES)
