"""Simulations of many cases at once: controllers and forces, motion over time, series and metrics."""
