"""Cluster files: what they say, what they must not say, and connections made from them."""
