"""Read and check sweep files: sections, axes, trajectories, and the `Sweep` that they define."""
