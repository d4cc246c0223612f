"""Sweeps from objects: dicts, arrays, data frames and datasets, written as a sweep file with arrays beside it."""
