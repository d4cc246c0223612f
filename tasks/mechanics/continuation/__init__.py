"""Joint variables on the branch of the reference pose, by paths that pass no singularity: of limbs, and of loops."""
