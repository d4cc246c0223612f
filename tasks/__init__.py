"""The numbers: one-sample mathematics, the kernels compiled from it, and the bodies of Dask tasks.

Imports `robots` only; knows nothing of Dask, Zarr or files.
"""
