"""Designs from nothing: winners of three studies, computed again by a script that does not import the package."""
