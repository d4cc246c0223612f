"""Command that asks the Python advisory database about versions of packages: `python -m packing.audit FILE`.

pip-audit asks, about each `NAME==VERSION` of FILE. Prints the versions with a known weakness, and apart from them those
that the database does not know, of which nothing is said. The status is 0 where all are known and none is weak, 1 where
one is weak, 2 where none is weak but not all are known, or where nobody answers.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Mapping
from typing import Any

WIDTH = 100
"""Characters of the names of a line."""


def advisories(file: str) -> list[Mapping[str, Any]]:
    """Return the answers of the database by version, as pip-audit writes them. Raises ConnectionError without any."""
    options = ["--no-deps", "--disable-pip", "--format", "json", "--progress-spinner", "off"]
    command = [sys.executable, "-m", "pip_audit", "--requirement", file, *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        return list(json.loads(done.stdout)["dependencies"])
    except ValueError:
        raise ConnectionError((done.stderr.strip().splitlines() or ["pip-audit printed nothing"])[-1]) from None


def summary(answers: Iterable[Mapping[str, Any]]) -> tuple[list[str], int]:
    """Return lines for people, and the exit status."""
    answers = list(answers)
    weak = [answer for answer in answers if answer.get("vulns")]
    unknown = sorted(answer["name"] for answer in answers if "skip_reason" in answer)
    lines = [_weakness(answer, row) for answer in weak for row in answer["vulns"]]
    lines.append(f"{len(answers)} versions: {len(answers) - len(unknown)} known, {len(weak)} of them with weaknesses")
    if unknown:
        lines += [f"not known to the database, so nothing is said of {len(unknown)}:", *_wrapped(unknown)]
    return lines, 1 if weak else 2 if unknown or not answers else 0


def _weakness(answer: Mapping[str, Any], row: Mapping[str, Any]) -> str:
    mended = ", ".join(row.get("fix_versions", ())) or "no version yet"
    return f"{answer['name']} {answer['version']}: {row['id']}, mended in {mended}"


def _wrapped(names: list[str]) -> list[str]:
    lines = [""]
    for name in names:
        if len(lines[-1]) + len(name) > WIDTH:
            lines.append("")
        lines[-1] += f" {name}"
    return [f" {line}" for line in lines]


def main(words: list[str]) -> int:
    """Ask about the versions of a file and print the answer."""
    try:
        lines, status = summary(advisories(words[0]))
    except ConnectionError as error:
        lines, status = [f"the advisory database gave no answer: {error}"], 2
    print(*lines, sep="\n")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
