"""Mechanisms of the literature, several in each module."""
