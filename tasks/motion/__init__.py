"""Motion over time from forces, the direct problem: `platforms` for parallel robots, `chains` for all others."""
