"""What pages and figures show, as numbers: designs, cases, series, maps, the mechanism in motion."""
