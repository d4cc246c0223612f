"""The numbers: one-sample mathematics, the kernels compiled from it, and the bodies of Dask tasks.

Imports `robots` only; knows nothing of Dask, Zarr or files. The names of the package are loaded on first use, so that
planning, which needs the shapes of programs alone, does not wait for a compiler.
"""

from robots.loading import offered_by_stub

__getattr__, __dir__, __all__ = offered_by_stub(__name__, __file__)
