"""Simulations of many cases at once: what drives them, their motion over time, series and metrics of it."""
