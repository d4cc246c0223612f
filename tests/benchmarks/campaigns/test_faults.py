from __future__ import annotations

import shutil
from pathlib import Path

from benchmarks.campaigns.faults import RECORD, FaultOutcome, Machine, Outcomes, rows, run


def test_the_record_prints_without_a_seed_run_again(tmp_path: Path) -> None:
    path = Path(shutil.copy(RECORD, tmp_path))
    outcomes = Outcomes(FaultOutcome, path)
    machine = Machine.of("five_bar", "own", ["none", "gain"])
    known = sum(machine.key(fault, seed) in outcomes.known for fault in machine.faults for seed in range(20))
    assert known == 40
    run([machine], 20, outcomes, float("inf"))
    assert path.read_bytes() == RECORD.read_bytes()
    first, second = outcomes.table(rows([machine], 20))
    assert first.startswith("| `five_bar` | own | none | false alarms 0 of 20 |")
    assert second.startswith("| `five_bar` | own | gain of the second drifts by 3 % | named 20 of 20 | 83% to 100% |")


def test_each_seed_stands_once_with_the_commit_of_its_program() -> None:
    lines = RECORD.read_text().splitlines()
    outcomes = Outcomes(FaultOutcome, RECORD).known
    assert len(outcomes) == len(lines)
    assert all(outcome.commit and not outcome.commit.endswith("+") for outcome in outcomes.values())
