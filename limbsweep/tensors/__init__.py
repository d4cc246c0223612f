"""Calls with tensors in them, and objectives of design problems: the common part of the faces for PyTorch and JAX."""
