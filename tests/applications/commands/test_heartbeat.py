"""Lines that tell that a command is at work: when, with the stage, and not for commands with progress of their own."""

from __future__ import annotations

import time

import pytest

from applications.commands import heartbeat
from applications.commands.heartbeat import Heartbeat, beating, set_stage
from tests.waiting import until


def test_a_slow_command_tells_its_time_and_stage(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(heartbeat, "BEATS", (0.01,))
    with beating("verify"):
        set_stage("reading")
        told = until(lambda: line if ", reading" in (line := capsys.readouterr().err) else "", "a line with its stage")
    assert "verify: at work for 0:0" in told


def test_commands_with_progress_of_their_own_tell_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(heartbeat, "BEATS", (0.0,))
    with beating("run"):
        time.sleep(0.05)
    assert capsys.readouterr().err == ""


def test_times_are_in_hours_minutes_and_seconds() -> None:
    assert Heartbeat("report").line(3725.0) == "report: at work for 1:02:05"
