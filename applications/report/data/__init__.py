"""Data of pages and figures, as numbers: designs, cases, series, maps, the mechanism in motion."""
