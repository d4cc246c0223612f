import math

import pytest

from robots import parameters
from robots.quantities import QUANTITIES
from storage.errors import StoreError
from storage.schema import Coordinate, check_coordinates, joint_units, lookup, older_units, units

SIZES = {"design": 2, "time": 3}


def test_every_variable_says_what_it_is() -> None:
    for name, variable in QUANTITIES.items():
        assert name == variable.name
        assert variable.dims
        assert variable.units
        assert variable.long_name
        assert variable.frame
        assert len(set(variable.dims)) == len(variable.dims)


def test_an_unwritten_value_is_no_result() -> None:
    assert all(math.isnan(row.fill) if row.dtype == "float64" else row.fill == -1 for row in QUANTITIES.values())


def test_units_follow_the_drive() -> None:
    assert units({True})["actuator_force"] == "N m"
    assert units({False})["actuator_force"] == "N"
    assert units({False})["actuator_velocity"] == "m/s"
    assert units({False})["energy"] == "J"
    assert "joint_position" not in units({False})


def test_units_of_drives_or_joints_of_both_kinds_are_both() -> None:
    assert units({True, False})["actuator_force"] == f"N m{parameters.EITHER}N" == "N m or N"
    assert units({True, False})["actuator_power"] == "W"
    kinds: list[set[bool]] = [{True}, {False}, {True, False}]
    assert [joint_units(turns)["joint_position"] for turns in kinds] == ["rad", "m", "rad or m"]
    assert joint_units({True, False})["joint_reaction"] == "N m, N"


def test_units_of_older_versions_are_those_that_they_wrote() -> None:
    assert older_units("N m or N", ("design", "actuator")) == {"N m", "N"}
    assert older_units("N", ("design", "actuator")) == set()
    assert older_units("m", ("design", "limb", "joint")) == {"rad"}


def test_unknown_variable_gets_the_nearest_name() -> None:
    with pytest.raises(StoreError, match="no variable 'actuator_forces' to store; did you mean 'actuator_force'"):
        lookup("actuator_forces")
    with pytest.raises(StoreError, match=r"no variable 'xyz' to store; known: actuator_force, "):
        lookup("xyz")


@pytest.mark.parametrize("name", ["../up", "", "1st", "a" * 81, "energy"])
def test_unusable_coordinate_name(name: str) -> None:
    with pytest.raises(StoreError, match="cannot be stored; expected a name of at most 80 letters"):
        check_coordinates([Coordinate(name, "design", (1.0, 2.0))], SIZES)


def test_coordinate_twice() -> None:
    with pytest.raises(StoreError, match="coordinate 'arm' cannot be stored"):
        check_coordinates([Coordinate("arm", "design", (1.0, 2.0))] * 2, SIZES)


@pytest.mark.parametrize(("name", "dim"), [("arm", "designs"), ("time", "design")])
def test_coordinate_along_a_wrong_dim(name: str, dim: str) -> None:
    with pytest.raises(StoreError, match=f"coordinate '{name}' lies along '{dim}'; expected one of design, time"):
        check_coordinates([Coordinate(name, dim, (1.0, 2.0))], SIZES)


def test_coordinate_of_a_wrong_length() -> None:
    with pytest.raises(StoreError, match="coordinate 'arm' has 3 values; expected 2, one for each design"):
        check_coordinates([Coordinate("arm", "design", (1.0, 2.0, 3.0))], SIZES)
