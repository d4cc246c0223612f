"""Doors of the table: uses of a sweep or of its results, each with the check of its answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from benchmarks.composition import exports, running, studies, views
from benchmarks.composition.case import Case

Door = Callable[[Case], None]

DOORS: Mapping[str, Door] = {
    "compute": running.compute,
    "check": running.check,
    "run": running.run,
    "lazy": running.lazy,
    "lazy to_zarr": running.to_zarr,
    "resume": running.resume,
    "submit": running.submit,
    "robots list": running.robots_list,
    "append": running.append,
    "verify": running.verify,
    "recompute": running.recompute,
    "info": views.info,
    "csv": exports.export_csv,
    "parquet": exports.export_parquet,
    "netcdf": exports.export_netcdf,
    "hdf5": exports.export_hdf5,
    "mat": exports.export_mat,
    "mat_designs": exports.export_mat_designs,
    "npz": exports.export_npz,
    "report": views.report,
    "figure": views.figure,
    "figures of a case": views.figures_of_case,
    "animation": views.animation,
    "best": studies.best,
    "grid": views.grid,
    "rank": studies.rank,
    "pareto": studies.pareto,
    "sensitivity": studies.sensitivity,
    "optimise": studies.optimise,
    "one at a time": studies.one_at_a_time,
    "morris": studies.morris,
    "search": studies.search,
    "identify": studies.identify,
}
