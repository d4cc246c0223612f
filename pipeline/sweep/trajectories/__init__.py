"""The trajectories of a sweep file, one module for each way to ask for them."""
