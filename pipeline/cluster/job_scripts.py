"""Grammar of the job scripts of batch systems: directives, their options and the form of the values.

A batch system reads directives from the first lines of a script, up to its first command; a line that it does not
understand is refused when a job is submitted, or is taken for a comment. Options of dask-jobqueue have the form that
the manual of the batch system documents: sbatch (SLURM 23.11), qsub (PBS Professional release 2022.1, Grid Engine
8.6), bsub (LSF 10.1), oarsub (OAR 2.5), condor_submit (HTCondor 23). Other options of a site only have to look like
options.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from robots.data_classes import dataclass

HMS = r"\d{1,4}:[0-5]?\d:[0-5]?\d"
NAME = r"[A-Za-z0-9_+][^\s/:@*\\]*"
WORD = r"[^\s\"']+"
PATH = r"[^\s\"']+|\"[^\"]+\"|'[^']+'"
COUNT = r"[1-9]\d*"
QUOTED = rf"\"[^\"]+\"|'[^']+'|{WORD}"


@dataclass(frozen=True)
class Grammar:
    """Directives of a batch system: their beginning, and the pattern of the value of each known option."""

    prefix: str
    options: Mapping[str, str]
    resources: Mapping[str, str]
    """Patterns of resources in the value of `-l`, by name; others are the site's."""


GRAMMARS: Mapping[str, Grammar] = {
    "slurm": Grammar(
        "#SBATCH",
        {
            "-J": QUOTED, "-p": WORD, "-A": WORD, "-n": COUNT, "--cpus-per-task": COUNT, "--mem": r"\d+[KMGT]?",
            "-t": rf"(\d+-)?{HMS}", "-e": PATH, "-o": PATH,
        },
        {},
    ),
    "pbs": Grammar(
        "#PBS",
        {"-N": NAME, "-q": WORD, "-A": WORD, "-e": PATH, "-o": PATH, "-l": WORD},
        {
            "walltime": HMS,
            "select": r"[1-9]\d*(:\w+=[^:=]+)*(\+[1-9]\d*(:\w+=[^:=]+)*)*",
            "mem": r"\d+([kmgt]?[bw])?",
            "ncpus": COUNT,
        },
    ),
    "lsf": Grammar(
        "#BSUB",
        {
            "-J": QUOTED, "-q": WORD, "-P": QUOTED, "-n": COUNT, "-R": QUOTED,
            "-M": r"[1-9]\d*([KMGT]B?)?", "-W": r"\d{1,4}(:[0-5]\d)?", "-e": PATH, "-o": PATH,
        },
        {},
    ),
    "sge": Grammar(
        "#$",
        {"-N": NAME, "-q": WORD, "-P": WORD, "-l": WORD, "-e": PATH, "-o": PATH, "-cwd": "", "-j": "y|yes|n|no",
         "-pe": rf"{WORD} [1-9]\d*(-\d*)?"},
        {"h_rt": rf"{HMS}|{COUNT}", "h_vmem": r"\d+(\.\d+)?[kKmMgG]?"},
    ),
    "oar": Grammar(
        "#OAR",
        {"-n": WORD, "-q": WORD, "--project": WORD, "-l": WORD, "-p": rf"{QUOTED}|\w+>=\d+", "-O": PATH, "-E": PATH},
        {"walltime": rf"{HMS}|\d+"},
    ),
}  # fmt: skip

_CONDOR = re.compile(r"(MY\.|\+)?[A-Za-z_][\w.]*\s*=\s*\S.*|(?i:queue)( \d+)?")
_OPTION = re.compile(r"(--?[A-Za-z][\w-]*)(?:[ =]+(.*))?")


def faults(kind: str, script: str) -> Iterator[tuple[str, str]]:
    """Yield lines of a job script that its batch system would not understand, and the expected form.

    A system without a grammar may read the directives of another one, as Moab does those of PBS.
    """
    if kind == "htcondor":
        yield from _condor_faults(script)
        return
    grammar = GRAMMARS.get(kind) or next((each for each in GRAMMARS.values() if f"\n{each.prefix} " in script), None)
    if grammar is None:
        return
    has_command = False
    for line in script.splitlines():
        if line.startswith(grammar.prefix + " "):
            expected = "directives before the first command" if has_command else _fault(grammar, line)
            if expected:
                yield line, expected
        elif line.strip() and not line.startswith("#"):
            has_command = True


def _fault(grammar: Grammar, line: str) -> str:
    """Return the expected form of a directive; empty if it is well formed."""
    match = _OPTION.fullmatch(line.removeprefix(grammar.prefix).strip())
    if match is None:
        return f"an option such as {next(iter(grammar.options))} after {grammar.prefix}"
    name, value = match[1], (match[2] or "").strip()
    pattern = grammar.options.get(name)
    if pattern is None:
        return ""
    if not re.fullmatch(pattern, value):
        return f"a value of {name} as the manual has it"
    return _resource_fault(grammar, value) if name == "-l" else ""


def _resource_fault(grammar: Grammar, text: str) -> str:
    """Return the expected form of a resource in the value of `-l`; empty if all are well formed."""
    for part in text.split(","):
        name, _, value = part.partition("=")
        pattern = grammar.resources.get(name)
        if pattern is not None and not re.fullmatch(pattern, value, re.IGNORECASE):
            return f"a value of {name} as the manual has it"
    return ""


def _condor_faults(script: str) -> Iterator[tuple[str, str]]:
    """Yield lines of a submit description that are neither a setting, nor a comment, nor the queue command."""
    lines = [line.strip() for line in script.splitlines() if line.strip() and not line.strip().startswith("#")]
    for line in lines:
        if not _CONDOR.fullmatch(line):
            yield line, "NAME = VALUE, or Queue"
    if not lines or not lines[-1].lower().startswith("queue"):
        yield lines[-1] if lines else "", "the command Queue at the end"
