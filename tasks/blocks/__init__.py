"""Work of a Dask task: trajectories, limbs, platform and assembly of one block, and the memory that they use."""
