"""Signatures of the packages as an editor and `help` show them."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import typing

import pytest

import tasks
from tasks.dynamics import fastest, records

SHORT = (typing.Unpack[records.MotionKeywords], typing.Unpack[fastest.PathKeywords])


@pytest.mark.parametrize("package", ["pipeline", "applications.report", "applications.studies", "storage", "tasks"])
def test_a_package_lists_what_it_offers(package: str) -> None:
    module = importlib.import_module(package)
    assert dir(module) == sorted(module.__all__)


OPEN = {"fastest_motion"}
"""Functions whose arguments are not yet records."""


@pytest.mark.parametrize("name", tasks.__all__)
def test_a_public_function_names_every_argument_and_its_type(name: str) -> None:
    function = getattr(tasks, name)
    hints, parameters = typing.get_type_hints(function), inspect.signature(function).parameters
    assert all(p.kind != p.VAR_POSITIONAL for p in parameters.values())
    assert {*parameters, "return"} == hints.keys()
    assert typing.Any not in hints.values()
    assert all(hints[key] in SHORT for key, p in parameters.items() if p.kind == p.VAR_KEYWORD)
    assert len(parameters) <= 8 or name in OPEN


def test_the_short_form_has_the_fields_of_the_records() -> None:
    fields = {field.name for field in dataclasses.fields(records.Motion)}
    assert {*records.MotionKeywords.__annotations__} == fields | {"gravity"}
    assert {*records.Moving.__annotations__} == fields - {"time", "memory"}
