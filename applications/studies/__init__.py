"""Studies on results: feasible designs, best designs, important parameters, the next sweep.

`problem` and `optimisation`, and `one_at_a_time` on request, call the kernels in this process; `populations` runs
sweeps; all else works on an opened dataset and computes no mechanics.

- `cases`: operating conditions, such as a payload, as a dim of their own
- `bearings`: rating life of bearings of joints
- `space`: what varies, and what follows from it: the factors that all others here ask
- `columns`: parameters and metrics as one number for each design; objectives and conditions on them
- `pareto`: designs that no other beats; `ranking`: an order by weights
- `sensitivity`: variance-based indices from a Saltelli design, or from a function; interaction plots
- `shares`: shares of variance with their errors, from the designs of any sweep
- `tolerances`: what deviations of parameters do to a metric, to first order
- `surrogate`: processes of metrics and their gradients over the designs of a store (`gradient_process`)
- `uncertainty`: covariance of parameters through derivatives to metrics, and samples beside it
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
    from applications.studies.bearings import RollingBearing, bearing_life
    from applications.studies.cases import by_cases
    from applications.studies.columns import column, feasible, objective, value_of
    from applications.studies.optimisation import optimise
    from applications.studies.pareto import front, layers
    from applications.studies.populations.asking import SearchSettings
    from applications.studies.populations.methods import ask_and_tell, hypervolume
    from applications.studies.populations.search import search, search_families
    from applications.studies.populations.space import FamilySpace
    from applications.studies.problem import DesignProblem
    from applications.studies.ranking import rank
    from applications.studies.refinement import refine
    from applications.studies.screening import derivative_measures, effects, morris, morris_designs, tolerance_effect
    from applications.studies.sensitivity import of_saltelli_store, saltelli, sobol
    from applications.studies.shares import from_samples
    from applications.studies.space import DesignSpace
    from applications.studies.surrogate import Surrogate, surrogate
    from applications.studies.uncertainty import uncertainty
    from applications.studies.workspaces.workspace import Workspace, workspace

__all__ = [
    "DesignProblem",
    "DesignSpace",
    "FamilySpace",
    "RollingBearing",
    "SearchSettings",
    "Surrogate",
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
    "surrogate",
    "tolerance_effect",
    "uncertainty",
    "value_of",
    "workspace",
]

_HOMES = {
    "DesignProblem": "applications.studies.problem",
    "DesignSpace": "applications.studies.space",
    "FamilySpace": "applications.studies.populations.space",
    "RollingBearing": "applications.studies.bearings",
    "SearchSettings": "applications.studies.populations.asking",
    "Surrogate": "applications.studies.surrogate",
    "Workspace": "applications.studies.workspaces.workspace",
    "ask_and_tell": "applications.studies.populations.methods",
    "bearing_life": "applications.studies.bearings",
    "by_cases": "applications.studies.cases",
    "column": "applications.studies.columns",
    "derivative_measures": "applications.studies.screening",
    "effects": "applications.studies.screening",
    "feasible": "applications.studies.columns",
    "from_samples": "applications.studies.shares",
    "front": "applications.studies.pareto",
    "hypervolume": "applications.studies.populations.methods",
    "layers": "applications.studies.pareto",
    "morris": "applications.studies.screening",
    "morris_designs": "applications.studies.screening",
    "objective": "applications.studies.columns",
    "of_saltelli_store": "applications.studies.sensitivity",
    "optimise": "applications.studies.optimisation",
    "rank": "applications.studies.ranking",
    "refine": "applications.studies.refinement",
    "saltelli": "applications.studies.sensitivity",
    "search": "applications.studies.populations.search",
    "search_families": "applications.studies.populations.search",
    "sobol": "applications.studies.sensitivity",
    "tolerance_effect": "applications.studies.screening",
    "surrogate": "applications.studies.surrogate",
    "uncertainty": "applications.studies.uncertainty",
    "value_of": "applications.studies.columns",
    "workspace": "applications.studies.workspaces.workspace",
}

if not TYPE_CHECKING:  # for which there are no other names
    __getattr__, __dir__ = on_first_use(__name__, _HOMES)
