"""What a Dask task does: trajectories, limbs, platform and assembly of one block, and the memory that they use."""
