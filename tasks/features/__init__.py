"""Criteria of design that need more than J_IK and the mass matrix: stiffness, errors of parts, distances of links."""
