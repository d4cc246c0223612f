"""Checks of a recording before the estimation. Each finding names its recording and actuator.

`series` checks the signals as they are, `hypotheses` checks motions and forces together. Findings that are errors
stop an identification, unless a user accepts their kind.
"""
