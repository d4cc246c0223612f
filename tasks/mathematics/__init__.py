"""Functions of one sample that know no robot: small linear systems, rotations, elementary functions."""
