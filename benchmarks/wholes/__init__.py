"""Whole sweeps by limbsweep, and by scripts that its user would write around other engines with Dask and Zarr."""
