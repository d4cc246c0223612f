"""Table of composition: features of a sweep with one another and with all that is done with a sweep, executed.

`python -m benchmarks.composition` makes sweeps in which every pair of features, robots and doors meets (a covering
array), passes each through its door, and holds its numbers to a slow path. A pair works, is refused with a sentence, or
has no meaning. A wrong number or a traceback ends the campaign with a status of 1.
"""
