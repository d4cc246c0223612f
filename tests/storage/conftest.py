"""What tests of storage share."""

from __future__ import annotations

import os

import pytest


@pytest.fixture
def unforced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is forced to the disk, which takes most of the time of tests that write many stores."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)
