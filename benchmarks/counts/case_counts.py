"""Operations that do not depend on a parameter, such as a payload, and are computed again for every value of it.

    python -m benchmarks.counts.case_counts [--robot delta_rl5_1450_motors] [--parameter payload_mass] [METRIC ...]

A payload that designs sweep makes a design of each of its values, so all quantities of a sample are computed for each.
The programs of all stages are followed from the parameter on: values that depend on it have to be computed for each
value, the rest is the same. Counts are those of `Program.operations`: of one sample, bodies of loops once.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence

from robots import catalog
from robots.model import Family
from tasks.features.table import request
from tasks.kernels.expression import CASE, RESULT, SAMPLE, STATE
from tasks.kernels.keys import Key
from tasks.kernels.program import PER_CASE, Program
from tasks.stages.stage import Rows, Stage
from tasks.stages.stages import stages

METRICS = ("peak_force", "rms_force", "peak_velocity", "condition")


def reached(program: Program, inputs: Mapping[Key, frozenset[int] | None]) -> list[bool]:
    """Mark the nodes that depend on some inputs: all entries of a key, or those of these places."""
    marks = [False] * len(program.nodes)
    while True:
        before = list(marks)
        for place, node in enumerate(program.nodes):
            if node.op in (CASE, SAMPLE):
                key, entry = node.data
                chosen = inputs.get(key, frozenset())
                marks[place] = chosen is None or entry in chosen
            elif node.op in (STATE, RESULT):
                loop, entry = program.loops[node.data[0]], node.data[1]
                source = (loop.initial[entry], (loop.following if node.op == STATE else loop.state)[entry])
                marks[place] = any(marks[k] for k in (*source, loop.done))
            else:
                marks[place] = marks[place] or any(marks[k] for k in node.args)
        if marks == before:  # the states of loops have settled
            return marks


def counts(program: Program, marks: Sequence[bool]) -> tuple[int, int]:
    """Count the operations of one sample, and those of them that are not marked as dependent."""
    chosen = [k for key, nodes in program.regions.items() if key != PER_CASE and key not in program.rare for k in nodes]
    return len(chosen), sum(not marks[k] for k in chosen)


def rows(family: Family, parameter: str, metrics: Sequence[str]) -> list[tuple[str, int, int]]:
    """Return each stage with its operations of one sample, and the operations that do not depend on the parameter."""
    place = [p.name for p in family.parameters].index(parameter)
    changed: dict[Key, frozenset[int] | None] = {"parameters": frozenset({place})}
    result = []
    for stage in stages(request(family, tuple(metrics))):
        marks = reached(stage.program, {key: _taken(stage, key, changed) for key in stage.program.inputs})
        for output, (_, nodes) in stage.program.outputs.items():
            places = frozenset(k for k, node in enumerate(nodes) if marks[node])
            if places:
                changed[stage.gives(output)] = places
        result.append((stage.program.name, *counts(stage.program, marks)))
    return result


def _taken(stage: Stage, key: Key, changed: Mapping[Key, frozenset[int] | None]) -> frozenset[int] | None:
    source = stage.takes.get(key, key)
    if isinstance(source, Rows):
        entries = changed.get(source.of, frozenset())
        first, last = source.rows
        return entries if entries is None else frozenset(k - first for k in entries if first <= k < last)
    return changed.get(source, frozenset())


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line for each stage, and all together."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("metrics", nargs="*", default=METRICS)
    parser.add_argument("--robot", default="delta_rl5_1450_motors")
    parser.add_argument("--parameter", default="payload_mass")
    options = parser.parse_args(arguments)
    found = rows(catalog.family(options.robot), options.parameter, tuple(options.metrics))
    total = ("all stages", sum(row[1] for row in found), sum(row[2] for row in found))
    print(f"{'stage':<40}  operations  without {options.parameter}")
    for name, every, free in (*found, total):
        print(f"{name:<40}{every:12}{free:12} ({100.0 * free / max(1, every):.0f} %)")


if __name__ == "__main__":
    main()
