"""A sweep file: its sections, its axes and trajectories, and the checked `Sweep` that it means."""
