"""The axes of a sweep: grids, lists, samples, conditions, derived parameters and parts of axes."""
