"""Sweep -> plan -> graph -> cluster -> run, and the command line.

`Sweep` and `run` are loaded on first use, so that a command which computes nothing starts at once.
"""

from robots.loading import offered_by_stub

__getattr__, __dir__, __all__ = offered_by_stub(__name__, __file__)
