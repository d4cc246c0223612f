"""Rows of the list of bad inputs without a test here: tested elsewhere, or about what cannot be said to limbsweep."""

from __future__ import annotations

ELSEWHERE = {
    "F24": ("tests/pipeline/execution/test_preflight.py", "test_a_worker_without_llvmlite_is_refused_with_a_table"),
    "G17": ("tests/pipeline/test_cli.py", "test_a_closed_pipe_is_not_an_error_of_ours"),
    "G18": ("tests/bad_inputs/test_other_locales.py", "test_messages_and_plans_are_ascii"),
}
"""Rows that need another environment or a process of their own: the file and the test."""

NEVER = {
    "D15": "robot files have no limits of joints or legs",
    "D31": "robot files have no limits of motors",
    "F25": "no kind of cluster rents machines, so there is no price; adapt needs a maximum, and counts end at 10 000",
}
"""Rows about what no file or option can say, and why."""

WAITING = {row: " ".join(place) for row, place in ELSEWHERE.items()} | NEVER
