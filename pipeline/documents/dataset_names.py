"""Names of datasets that no parameter, variable or label of designs may have: of quantities, dims and coordinates."""

from __future__ import annotations

import re

from robots.dims import GAINS, PLACED, STATE
from robots.parameters import DEVIATION
from robots.quantities import QUANTITIES
from storage.schema import DONE, NAME, SAMPLES, STEP

CASE, STORED = "case", "stored_design"
"""The dim of operating cases in studies, and the coordinate (design, case) with the numbers of designs in the store."""

FRICTION_SET = "friction_set"
"""The coordinate (design,) with the number of the friction set, where friction sets are designs of their own."""

STATE_NUMBER = "state_number"
"""The coordinate (state,) with the numbers of initial states in the store."""

TRUTH = "true_"
"""Beginning of coordinates of a dataset that have the parameters of bodies and drives that data were made with."""

COORDINATE = "trajectory_"
"""Beginning of coordinates along trajectories: numbers that a trajectory is swept by, samples and step."""

GRAVITY = ("gravity_x", "gravity_y", "gravity_z")
"""Names of the components of gravity as parameters of designs."""


def part_name(dim: str) -> str:
    """Return the coordinate that says which parts the places along a dim are in."""
    return f"{dim}_part"


_DIMS = {dim for row in QUANTITIES.values() for dim in row.dims} | {*PLACED.values(), CASE, GAINS, STATE}
_COORDINATES = {STORED, FRICTION_SET, STATE_NUMBER, SAMPLES, STEP, DONE} | {part_name(dim) for dim in _DIMS}
_COLUMN = re.compile(r"(?P<base>\w+?)_(?:max|min|mean|sum|derivative|derivative_status)")

FREE_NAME = "a name of letters, digits and underscores that no output or metric has, nor a dim"
"""Rule for the names of variables and labels."""


def name_conflict(name: str) -> str:
    """Return a sentence on the part of datasets that has a name; "" for a name that swept numbers may have.

    Capitals do not count: names are folders, and some file systems see no capitals.
    """
    folded = name.casefold()
    column = _COLUMN.fullmatch(folded)
    if folded in QUANTITIES or (column and column["base"] in QUANTITIES):
        return "Outputs and metrics have this name."
    if folded in _DIMS:
        return "A dim of datasets has this name."
    if folded in _COORDINATES:
        return "A coordinate of datasets has this name."
    for prefix, owner in ((TRUTH, "true parameters of generated data"), (COORDINATE, "numbers of trajectories")):
        if folded.startswith(prefix):
            return f"Names of {owner} begin with {prefix}."
    return ""


def parameter_conflict(name: str) -> str:
    """Return a sentence on the owner of a name that no robot or sweep may give a parameter; "" for a free name."""
    folded = name.casefold()
    if folded in GRAVITY:
        return "The gravity of every sweep has this name."
    if folded.endswith(DEVIATION):
        return f"Names of deviations within tolerances end in {DEVIATION}."
    return name_conflict(name)


def is_free(name: str) -> bool:
    """Return whether a parameter, variable or label may have a name."""
    return bool(NAME.fullmatch(name)) and not parameter_conflict(name)
