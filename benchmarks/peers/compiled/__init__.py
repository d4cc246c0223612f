"""Pinocchio compiled on the machine that measures: its algorithms from their headers, and C that it generates.

`compiler` calls the system's compiler, `plain` makes arrays of a tree; `native` and `generated` are engines.
"""
