"""What an editor and `help` show of what the packages offer."""

from __future__ import annotations

import importlib
import inspect
import typing

import pytest

import tasks


@pytest.mark.parametrize("package", ["pipeline", "applications.report", "applications.studies", "storage", "tasks"])
def test_a_package_lists_what_it_offers(package: str) -> None:
    module = importlib.import_module(package)
    assert dir(module) == sorted(module.__all__)


@pytest.mark.parametrize("name", tasks.__all__)
def test_a_public_function_names_every_argument_and_its_type(name: str) -> None:
    function = getattr(tasks, name)
    hints, signature = typing.get_type_hints(function), inspect.signature(function)
    assert all(p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL) for p in signature.parameters.values())
    assert {*signature.parameters, "return"} == hints.keys()
    assert typing.Any not in hints.values()


@pytest.mark.parametrize("name", ["inverse_dynamics", "joint_reactions", "forward_dynamics", "regressor"])
def test_overloads_take_what_the_function_takes(name: str) -> None:
    function = getattr(tasks, name)
    expected = inspect.signature(function).parameters
    for overload in typing.get_overloads(function):
        parameters = inspect.signature(overload).parameters
        assert parameters.keys() == expected.keys()
        assert all(parameters[key] == expected[key] for key in expected if key != "full")
