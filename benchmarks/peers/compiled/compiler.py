"""C and C++ compiled for the processor that is here, and kept for the next process (`tasks.kernels.stored`).

Headers come from packages, which put them below `cmeel.prefix`, or from the system. The name of a library depends on
all its inputs: text, options, the compiler's description of itself and of the processor, versions of the headers.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from tasks.kernels import stored

COMPILER = "g++"
NATIVE = "-march=native"
target = NATIVE
"""The option that stands for NATIVE: `benchmarks.registers` has code for other processors made."""

FOLDER = Path(__file__).parent
USUAL = Path("/usr/include")
"""Folder in which the compiler looks by itself; named as an option it changes the order and the compiler fails."""

HEADERS = {
    "Pinocchio": "pinocchio/config.hpp",
    "Boost": "boost/version.hpp",
    "Eigen": "Eigen/src/Core/util/Macros.h",
    "CppAD": "cppad/configure.hpp",
    "CppADCodeGen": "cppad/cg/configure.hpp",
}
"""Libraries of headers, and the file of each that has its version."""

ALGORITHMS = ("Pinocchio", "Boost", "Eigen")
GENERATION = (*ALGORITHMS, "CppAD", "CppADCodeGen")
"""Libraries for Pinocchio's algorithms, and for its code generation."""

PINOCCHIO = (
    "-std=c++17",
    "-DBOOST_FUSION_INVOKE_MAX_ARITY=12",
    "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
    "-DBOOST_MPL_LIMIT_LIST_SIZE=30",
    "-DBOOST_MPL_LIMIT_VECTOR_SIZE=30",
)
"""Definitions that its headers need, from its CMake files."""


def missing(names: Sequence[str]) -> str:
    """Name the missing parts among the compiler and these libraries, with packages to install; empty if none."""
    if shutil.which(COMPILER) is None:
        return f"{COMPILER}; install it with the packages of the system"
    gone = [name for name in names if _place(HEADERS[name]) is None]
    return f"headers of {' and '.join(gone)}; install limbsweep[peers]" if gone else ""


def library(text: str, language: str, options: Sequence[str], headers: Sequence[str] = ()) -> ctypes.CDLL:
    """Compile a text in `language`, "c" or "c++", that may include files of this folder and header libraries.

    Raises RuntimeError with the first lines of the compiler's messages.
    """
    options = [target if option == NATIVE else option for option in options]
    places = {name: _found(name) for name in headers}
    own = [file.read_text("utf-8") for file in sorted(FOLDER.glob("*.hpp"))] if headers else []
    versions = [(place / HEADERS[name]).read_text("utf-8") for name, place in places.items()]
    included = [f"-I{FOLDER}", *dict.fromkeys(f"-isystem{place}" for place in places.values() if place != USUAL)]
    name = stored.key(text, language, *options, *included, _compiler(target), *own, *versions)
    with tempfile.TemporaryDirectory(prefix="limbsweep-peers-") as folder:
        file = Path(folder) / "compiled.so"
        if (code := stored.read(name)) is None:
            _compile(text, language, (*options, *included), file)
            stored.write(name, file.read_bytes())
        else:
            file.write_bytes(code)
        return ctypes.CDLL(str(file))


def _compile(text: str, language: str, options: Sequence[str], file: Path) -> None:
    """Make a shared library of a text.

    The library is linked in a separate step: with options like -Ofast, linking would set the process to drop denormal
    numbers. A symbol that is neither in the text nor in headers is an error, so that no code from elsewhere is called.
    """
    parts = str(file.with_suffix(".o"))
    _call(text, [*options, "-x", language, "-c", "-fPIC", "-w", "-o", parts, "-"])
    _call("", ["-shared", "-s", "-Wl,-Bsymbolic", "-Wl,-z,defs", "-o", str(file), parts, "-lm"])


def _call(text: str, words: Sequence[str]) -> None:
    done = subprocess.run([COMPILER, *words], input=text, capture_output=True, text=True)
    if done.returncode:
        lines = done.stderr.splitlines()
        said = [line for line in lines if "error" in line or "undefined" in line] or lines
        raise RuntimeError("\n".join([f"{COMPILER}: got status {done.returncode} with {' '.join(words)}", *said[:3]]))


@cache
def _compiler(option: str) -> str:
    """Return the macros that the compiler defines for a processor: its version and the instruction extensions."""
    command = [COMPILER, option, "-dM", "-E", "-x", "c", "-"]
    return subprocess.run(command, input="", capture_output=True, text=True, check=True).stdout


def _found(name: str) -> Path:
    if (place := _place(HEADERS[name])) is None:
        raise RuntimeError(missing([name]))
    return place


def _place(header: str) -> Path | None:
    """Return the folder that this header is included from."""
    return next((place for place in _places() if (place / header).is_file()), None)


def _places() -> Iterator[Path]:
    for place in (*(Path(each) / "cmeel.prefix" / "include" for each in sys.path), Path("/usr/local/include"), USUAL):
        yield from (place, place / "eigen3")
