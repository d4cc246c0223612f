"""Size and seconds of two searches for the place of a regular workspace, alone and together.

    python -m benchmarks.regular_shapes [--levels 1]

The largest box or cylinder moves by linear programmes over tangents, which are exact for a ball and know one face alone
at an edge, and by random centres ever closer. Sizes are those of `limbsweep.study.workspace`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence

import limbsweep as ls
from applications.studies.columns import Array
from applications.studies.workspaces import largest
from applications.studies.workspaces.workspace import Kind

CASES: tuple[tuple[str, Kind, str], ...] = (
    ("five_bar", "box", "condition <= 4"),
    ("delta_3rr2rrr", "box", "condition <= 6"),
    ("delta_3rr2rrr", "cylinder", "condition <= 6"),
)
SEARCHES = {"both": (), "without programmes": ("_moved",), "without random centres": ("_tried",)}


def _stays(shape: object, points: Array, centre: Array, *further: object) -> Array:
    """Return a search that leaves the centre where it is."""
    return centre


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line for each robot, shape and search."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--levels", type=int, default=1, help="how often cells on the boundary are halved")
    options = parser.parse_args(arguments)
    for robot, shape, condition in CASES:
        for name, left_out in SEARCHES.items():
            searches = {search: getattr(largest, search) for search in left_out}
            try:
                for search in searches:
                    setattr(largest, search, _stays)
                start = time.process_time()
                space = ls.study.workspace(robot, shape, [condition], levels=options.levels)
                seconds = time.process_time() - start
            finally:
                for search, function in searches.items():
                    setattr(largest, search, function)
            print(f"{robot:<14} {shape:<9} {name:<23} {space.size:.6f} m  {seconds:.1f} s", flush=True)


if __name__ == "__main__":
    main()
