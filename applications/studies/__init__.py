"""Studies on results: feasible designs, best designs, important parameters, the next sweep.

`problem` and `optimisation`, and `one_at_a_time` on request, call the kernels in this process; `populations` runs
sweeps; all else works on an opened dataset and computes no mechanics.

- `cases`: operating conditions, such as a payload, as a dim of their own
- `bearings`: rating life of bearings of joints
- `space`: factors that vary and parameters that follow from them; all other modules use it
- `columns`: parameters and metrics as one number for each design; objectives and conditions on them
- `pareto`: designs that no other beats; `ranking`: an order by weights
- `sensitivity`: variance-based indices from a Saltelli design, or from a function; interaction plots
- `shares`: shares of variance with their errors, from the designs of any sweep
- `tolerances`: effects of deviations of parameters on a metric, to first order
- `surrogate`: processes of metrics and their gradients over the designs of a store (`gradient_process`)
- `uncertainty`: covariance of parameters through derivatives to metrics, and samples beside it
- `screening`: elementary effects, and means of squared derivatives
- `one_at_a_time`: one parameter after another over its range
- `refinement`: the next sweep, around the best designs
- `populations`: search by NSGA-II, NSGA-III or Parzen estimators, generations computed on a cluster into a store
- `workspaces`: the positions that a robot reaches under conditions, and their largest regular part
- `problem`, `optimisation`: metrics and their exact derivatives as functions of a design, and local optimisation
"""

from robots.loading import offered_by_stub

__getattr__, __dir__, __all__ = offered_by_stub(__name__, __file__)
