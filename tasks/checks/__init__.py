"""Lagrange's equations of a chain with its drives, a second formulation beside the recursion."""
