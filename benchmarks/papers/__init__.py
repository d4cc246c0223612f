"""Results that the papers print and draw, computed again: `python -m benchmarks.papers`, a command for each result."""
