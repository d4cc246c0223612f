from __future__ import annotations

import pytest

from pipeline.execution.policy.attempts import (
    DEFAULTS,
    Agenda,
    Attempt,
    AttemptStep,
    Failure,
    FailureKind,
    Timeouts,
    following,
)


@pytest.mark.parametrize(
    ("step", "number", "kind", "then"),
    [
        ("compute", 1, "raised", Attempt(7, "compute", 2)),
        ("compute", 2, "raised", Attempt(7, "isolate", 1)),
        ("compute", 1, "died", Attempt(7, "isolate", 1)),
        ("compute", 1, "overdue", Attempt(7, "isolate", 1)),
        ("isolate", 1, "raised", Attempt(7, "isolate", 2)),
        ("isolate", 1, "died", Attempt(7, "isolate", 2)),
        ("isolate", 2, "overdue", None),
    ],
)
def test_what_follows_a_failure(step: AttemptStep, number: int, kind: FailureKind, then: Attempt | None) -> None:
    assert following(Attempt(7, step, number), Failure(kind, "why"), DEFAULTS) == then


def test_every_block_ends_however_it_fails() -> None:
    for kind in ("raised", "died", "overdue"):
        attempt: Attempt | None = Attempt(0)
        for _ in range(DEFAULTS.compute + DEFAULTS.isolate):
            assert attempt is not None
            attempt = following(attempt, Failure(kind, ""), DEFAULTS)  # type: ignore[arg-type]
            if attempt is None:
                break
        assert attempt is None


def test_an_agenda_goes_through_all_blocks_and_comes_back_to_those_that_failed() -> None:
    agenda = Agenda(iter([3, 5, 8]), DEFAULTS)
    first = agenda.next()
    assert first == Attempt(3)
    assert agenda.failed(first, Failure("raised", "")) == Attempt(3, "compute", 2)
    assert [agenda.next() for _ in range(4)] == [Attempt(3, "compute", 2), Attempt(5), Attempt(8), None]


def test_a_run_is_hopeless_when_nothing_but_failures_come() -> None:
    timeouts = Timeouts(hopeless=2, isolate=1)
    agenda = Agenda(iter(range(9)), timeouts)
    last = Attempt(0, "isolate", 1)
    assert agenda.failed(last, Failure("died", "")) is None
    assert not agenda.hopeless
    agenda.failed(last, Failure("died", ""))
    assert agenda.hopeless
    agenda.succeeded()
    assert not agenda.hopeless
    assert (agenda.done, agenda.given_up) == (1, 2)


def test_isolation_has_time_for_all_its_parts() -> None:
    assert DEFAULTS.seconds("isolate") > DEFAULTS.isolation > DEFAULTS.seconds("compute")
    assert DEFAULTS.patience > DEFAULTS.seconds("isolate"), "a block that is isolated is not silence"
