"""Bad arguments of functions of `limbsweep`: each is refused in a sentence of ours, or listed as accepted."""

from __future__ import annotations

import traceback
from pathlib import Path

import pytest

import limbsweep as ls
from robots.arguments import check_argument
from robots.parameter_errors import ParameterError
from tests.bad_inputs.arguments import ACCEPTED, DOORS, reason_of

ROOT = Path(__file__).parents[2]
OURS = (ls.InputError, ls.StoreError, ValueError, TypeError)
"""Errors of calls; a ParameterError is a ValueError."""
ADVICE = ("expected", "did you mean", "known:", "leave it out", "check the path")
"""Words of messages, one of which says what to do."""


def fault(error: Exception) -> str:
    """Return what is wrong with an error: empty for one that our code raises with a sentence."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    said = str(error)
    is_ours = Path(last.filename).is_relative_to(ROOT) and (last.line or "").startswith("raise")
    if not is_ours or not isinstance(error, OURS):
        return f"{type(error).__name__} of {last.filename}:{last.lineno}: {said[:200]}"
    if max(map(len, said.splitlines()), default=0) > 5000:
        return f"a message of {len(said)} characters"
    if not isinstance(error, ls.InputError) and "\n" in said:
        return f"a message of several lines: {said[:200]!r}"
    return (
        ""
        if any(word in said for word in ("expected", "did you mean", "known:", "leave it out", "check the path"))
        else said
    )


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", DOORS)
def test_bad_arguments_are_refused_in_a_sentence(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    door, problems = DOORS[name], []
    for argument, values in door.bad.items():
        for kind, value in values.items():
            told = f"{name}({argument}={kind})"
            try:
                door.function(**{**door.good, argument: value})
            except Exception as error:
                if found := fault(error):
                    problems.append(f"{told}: {found}")
            else:
                if not reason_of(told):
                    problems.append(f"{told}: accepted")
    assert not problems, "\n".join(problems)
    assert not list(tmp_path.iterdir())


def test_there_are_many_of_them() -> None:
    inputs = [f"{n}({a}={k})" for n, door in DOORS.items() for a, values in door.bad.items() for k in values]
    assert len(inputs) == len({*inputs}) > 2000
    assert all(any(reason_of(name) == reason for name in inputs) for _, reason in ACCEPTED)


def test_a_text_in_place_of_a_list_of_texts_is_told_as_such() -> None:
    with pytest.raises(ParameterError, match=r"objectives: got 'peak_force'; expected a sequence .* write \['peak_f"):
        check_argument("objectives", "peak_force", "Sequence[Objective | str]")
    with pytest.raises(ParameterError, match=r"expected a sequence of (whole|a) "):
        check_argument("numbers", "peak_force", "Sequence[int]")
