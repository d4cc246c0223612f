"""Size of an installation by package: `python -m benchmarks.packages [--extra NAME ...]`.

Packages are those that limbsweep requires, with what they require, as they are installed here; the size is that of the
files that each of them lists [MiB]. `for` names the package that asks for it first.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, distribution

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

MEBI = 1 << 20
LEAST = 1.0
"""Size from which a package has a line of its own [MiB]."""


def required(extras: Iterable[str] = ()) -> dict[str, str]:
    """Return the packages that limbsweep requires with some extras, and the package that asks for each."""
    found: dict[str, str] = {"limbsweep": ""}
    waiting = [("limbsweep", extra) for extra in ("", *extras)]
    asked = set(waiting)
    while waiting:
        name, extra = waiting.pop(0)
        try:
            lines = distribution(name).requires or []
        except PackageNotFoundError:
            del found[name]  # not here, as its marker says, or because nobody installed the extra
            continue
        for requirement in map(Requirement, lines):
            if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
                continue
            other = canonicalize_name(requirement.name)
            found.setdefault(other, name)
            more = [(other, each) for each in ("", *requirement.extras) if (other, each) not in asked]
            asked.update(more)
            waiting += more
    return found


def size(name: str) -> float:
    """Return the size of the files of an installed package [MiB]; those of an editable one are not in its list."""
    files = distribution(name).files or []
    return sum(file.size or 0 for file in files) / MEBI


def main(words: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.packages", description="Size of an installation.")
    parser.add_argument("--extra", action="append", default=[], metavar="NAME")
    needs = required(parser.parse_args(words).extra)
    sizes = {name: size(name) for name in needs}
    for name in sorted(sizes, key=lambda name: -sizes[name]):
        if sizes[name] >= LEAST:
            print(f"{name:24s}{sizes[name]:8.1f} MiB   {f'for {needs[name]}' if needs[name] else ''}")
    print(f"{f'{len(sizes)} packages':24s}{sum(sizes.values()):8.1f} MiB")


if __name__ == "__main__":
    main()
