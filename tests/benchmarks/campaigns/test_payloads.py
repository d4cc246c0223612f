from __future__ import annotations

from pathlib import Path

from benchmarks.campaigns.faults import FaultOutcome
from benchmarks.campaigns.payloads import LOADINGS, RECORD, LoadedMachine, Outcomes, rows, run


def test_a_wrong_saying_is_named_and_a_right_one_is_not(tmp_path: Path) -> None:
    outcomes = Outcomes(FaultOutcome, tmp_path / "seeds.jsonl")
    machines, loadings = [LoadedMachine("planar_3r", "own")], [LOADINGS[1], LOADINGS[-1]]
    run(machines, loadings, 2, outcomes, float("inf"))
    assert len((tmp_path / "seeds.jsonl").read_text().splitlines()) == 4
    unknown, unsaid = outcomes.table(rows(machines, loadings, 2))
    assert unknown.startswith("| `planar_3r` | own | unknown | false alarms 0 of 2 |")
    assert unsaid.startswith("| `planar_3r` | own | not said | named 2 of 2 |")
    assert outcomes.known["planar_3r, unknown, own, 0"].covered > 0.85


def test_each_seed_of_the_record_stands_once_with_the_commit_of_its_program() -> None:
    lines = RECORD.read_text().splitlines()
    outcomes = Outcomes(FaultOutcome, RECORD).known
    assert len(outcomes) == len(lines)
    assert all(outcome.commit and not outcome.commit.endswith("+") for outcome in outcomes.values())
    loading = next(each for each in LOADINGS if each.name == "not said")
    (row,) = Outcomes(FaultOutcome, RECORD).table(rows([LoadedMachine("five_bar", "own")], [loading], 8))
    assert row.startswith("| `five_bar` | own | not said | named 8 of 8 |")
