"""The table of estimates beside times is printed without a word of the processes that make it."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest


@pytest.mark.slow
def test_an_example_has_its_row_and_no_process_warns() -> None:
    """Processes that import the module run it once; before, each ran it a second time and said so."""
    command = [sys.executable, "-m", "benchmarks.estimates", "five_bar"]
    printed = subprocess.run(command, capture_output=True, check=True, text=True)
    assert printed.stderr == ""
    assert re.search(r"^five_bar +\d+\.\d+ +\d+\.\d+ +\d+\.\d+ +\d+\.\d+$", printed.stdout, re.MULTILINE)
