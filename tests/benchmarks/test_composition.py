"""A part of the table of composition: each of some doors with other features, and what the table itself has to see."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from benchmarks.composition import __main__, table
from benchmarks.composition.case import Case
from benchmarks.composition.table import FACTORS, SIMPLE, Table, all_pairs, covering, diagonal, drawn, execute, pairs_of

DOORS = ("compute", "csv", "run", "optimise", "lazy", "best", "append", "rank", "mat", "grid")


@pytest.mark.parametrize("levels", diagonal("five_bar", DOORS), ids=lambda levels: levels["door"])
def test_features_and_a_door_work_together_or_are_refused(levels: dict[str, str], tmp_path: Path) -> None:
    made = Table(tmp_path)
    results = list(made.try_case(levels))
    assert not made.faults, made.faults[0].text
    assert results[-1].outcome == "works"
    for refused in made.refused.values():
        assert "expected" in refused.text or refused.outcome == "no meaning"
    assert not any(tmp_path.iterdir())


def test_a_wrong_number_and_a_traceback_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    right = Case.results.func  # type: ignore[attr-defined]

    def heavier(case: Case) -> Any:
        results = right(case)
        return results.assign(actuator_force=results["actuator_force"] * (1 + 1e-8))

    monkeypatch.setattr(Case, "results", property(heavier))
    assert execute(SIMPLE, tmp_path).outcome == "wrong"
    monkeypatch.setattr(Case, "results", property(lambda case: 1 / 0))
    assert execute(SIMPLE, tmp_path).outcome == "traceback"


def test_what_is_refused_is_found_among_all_features(tmp_path: Path) -> None:
    levels = {**SIMPLE, "friction": "viscous", "motors": "sharing", "design": "grid"}
    made = Table(tmp_path)
    refused, works = made.try_case(levels)
    assert (refused.outcome, works.outcome) == ("refused", "works")
    assert [*made.refused] == [frozenset({("motors", "sharing")})]
    assert made.state(frozenset({("motors", "sharing"), ("robot", "five_bar")})) == "refused"
    assert made.state(frozenset({("friction", "viscous"), ("design", "grid")})) == "works"
    assert made.state(frozenset({("friction", "viscous"), ("loads", "wrench")})) == "not seen"


def test_a_refusal_of_one_robot_is_none_of_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(levels: dict[str, str], folder: Path, seconds: float) -> table.Result:
        lacking = levels["motors"] == "currents" and levels["robot"] == "five_bar"
        refused = levels["motors"] == "currents" and levels["friction"] == "lugre"
        return table.Result(levels, "refused" if lacking or refused else "works", "expected another")

    monkeypatch.setattr(table, "execute", answer)
    made = Table(tmp_path)
    of_robot = frozenset({("motors", "currents"), ("robot", "five_bar")})
    made.refused[of_robot] = made.execute({**SIMPLE, "motors": "currents"})
    levels = {**SIMPLE, "robot": "irb6", "motors": "currents", "friction": "lugre", "design": "grid"}
    assert [result.outcome for result in made.try_case(levels)] == ["refused", "works"]
    assert {*made.refused} == {of_robot, frozenset({("robot", "irb6"), ("motors", "currents"), ("friction", "lugre")})}


def test_every_pair_is_in_the_array() -> None:
    pytest.importorskip("covertable")
    few = {name: levels[:4] for name, levels in FACTORS.items()}
    seen = {pair for row in covering(few) for pair in pairs_of(row)}
    wanted = {pair for pair in all_pairs() if all(level in few[name] for name, level in pair)}
    assert seen == wanted
    assert len(FACTORS["robot"]) >= 6
    assert table.SIMPLE.keys() == FACTORS.keys()


def test_a_second_call_goes_on_where_the_first_one_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes = iter(("works", "wrong", "refused", "works"))
    tried = []

    def answer(levels: dict[str, str], folder: Path, seconds: float) -> table.Result:
        tried.append(levels["door"])
        return table.Result(levels, next(outcomes), "a sentence", 1.5)  # type: ignore[arg-type]

    monkeypatch.setattr(table, "execute", answer)
    doors = ("run", "csv", "mat")
    first = Table(tmp_path, tmp_path / "record.jsonl")
    results = [first.execute({**SIMPLE, "door": door}) for door in doors]
    second = Table(tmp_path, tmp_path / "record.jsonl")
    again = [second.execute({**SIMPLE, "door": door}) for door in doors]
    assert tried == [*doors, "csv"]
    assert (again[0], again[2]) == (results[0], results[2])
    assert again[1].outcome == "works"
    third = Table(tmp_path, tmp_path / "record.jsonl", deadline=0.0)
    assert third.execute({**SIMPLE, "door": "run"}) == results[0]
    with pytest.raises(TimeoutError, match="the time is over"):
        third.execute({**SIMPLE, "door": "netcdf"})


def test_doors_that_need_a_feature_are_tried_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(levels: dict[str, str], folder: Path, seconds: float) -> table.Result:
        lacking = levels["door"] == "optimise" and levels["design"] == "one design"
        refused = levels["door"] == "optimise" and levels["field"] == "moving base"
        return table.Result(levels, "no meaning" if lacking else "refused" if refused else "works")

    monkeypatch.setattr(table, "execute", answer)
    made = Table(tmp_path)
    levels = {**SIMPLE, "door": "optimise", "field": "moving base", "loads": "wrench"}
    assert [result.outcome for result in made.try_case(levels)] == ["no meaning", "refused", "works"]
    assert {*made.refused} == {
        frozenset({("door", "optimise"), ("design", "one design")}),
        frozenset({("door", "optimise"), ("field", "moving base")}),
    }
    assert made.state(frozenset({("door", "optimise"), ("loads", "wrench")})) == "works"


def test_random_cases_have_all_features_and_are_those_of_their_seed() -> None:
    first, again, other = ([*islice(drawn(seed), 600)] for seed in (1, 1, 2))
    assert first == again != other
    seen = Counter((name, level) for levels in first for name, level in levels.items())
    assert {*seen} == {(name, level) for name, levels in FACTORS.items() for level in levels}
    assert max(seen[("robot", robot)] for robot in FACTORS["robot"]) < 2 * 600 / len(FACTORS["robot"])


def test_the_features_that_a_fault_of_a_random_case_needs_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    needed = {"friction": "lugre", "field": "moving base", "loads": "wrench over time"}

    def answer(levels: dict[str, str], folder: Path, seconds: float) -> table.Result:
        return table.Result(levels, "wrong" if needed.items() <= levels.items() else "works", "forces differ")

    monkeypatch.setattr(table, "execute", answer)
    monkeypatch.setattr(__main__, "drawn", lambda seed: iter([{**next(drawn(seed)), **needed, "door": "compute"}]))
    monkeypatch.setattr("sys.argv", ["composition", "--random", "1"])
    assert __main__.main() == 1
    drawn_case, least, *_ = (line for line in capsys.readouterr().out.splitlines() if line.startswith("wrong"))
    assert len(drawn_case.split(", ")) > 8
    assert {*least.partition(" s  ")[2].removesuffix(": forces differ").split(", ")} == {*needed.values()}


def test_a_case_without_end_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def crawl(case: Case) -> None:
        while True:
            try:
                sum(range(1000))
            except Exception:  # as a program that goes on after errors
                continue

    monkeypatch.setitem(table.DOORS, "compute", crawl)
    made = Table(tmp_path, tmp_path / "record.jsonl", seconds=0.3)
    (result,) = made.try_case(SIMPLE)
    assert (result.outcome, result.text) == ("too long", "no end after 0.3 s of processor time")
    assert not made.faults
    assert not made.works
    assert not [*table.recorded(tmp_path / "record.jsonl")]
    assert not [path for path in tmp_path.iterdir() if path.is_dir()]
