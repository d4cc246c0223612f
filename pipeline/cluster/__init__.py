"""Cluster files: content, refusals, and connections made from them."""
