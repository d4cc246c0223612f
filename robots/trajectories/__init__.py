"""Kinds of trajectories as data, and one trajectory of a sweep."""
