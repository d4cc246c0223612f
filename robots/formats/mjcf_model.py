"""A compiled model of MuJoCo from a file: a child process compiles copies of the file and of the files it names.

`robots.formats.mjcf_files` makes the copies. The child has bounds of time and memory and can write no file; it returns
the compiled model.
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

from robots.extras import how_to_install
from robots.formats.mjcf_files import CopiedModel, ModelFiles
from robots.formats.xml_tree import Element, FormatError

SECONDS = 10
"""Processor time of a compilation [s]. No model of Menagerie takes 1."""

WAIT = 6 * SECONDS
"""Time on the clock [s], for a machine that does other work beside it."""

MEMORY = 2 << 30
"""Address space of the child [bytes]; it uses less memory."""

MAX_MODEL = 512 << 20
"""Bytes of a compiled model."""

_BOUNDED, _CHILD = (Path(__file__).with_name(name) for name in ("bounded.py", "mjcf_child.py"))
_ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MALLOC_ARENA_MAX"), "1")
"""Threads and their arenas take addresses, which are bounded."""


def load(path: str, files: ModelFiles, data: bytes) -> tuple[Element, Any, ModuleType]:
    """Return the root of a model at a path, the compiled model, and the module of MuJoCo. Raises FormatError."""
    place = os.path.abspath(path)
    with tempfile.TemporaryDirectory(prefix="limbsweep-model-") as private:
        copied = CopiedModel(files, os.path.dirname(place), private)
        root = copied.add(place, data)
        if importlib.util.find_spec("mujoco") is None:
            rule = "the package mujoco, which compiles it"
            raise FormatError(0, "", "a model of MuJoCo", rule, how_to_install("mujoco"))
        compiled = _compiled(copied.target(place), private)
    import mujoco  # slow, and loads graphics libraries: only after all checks

    return root, mujoco.MjModel.from_binary_path("model.mjb", {"model.mjb": compiled}), mujoco


def _compiled(path: str, private: str) -> bytes:
    """Return the compiled model whose copy is at a path below the private folder, from the child process."""
    output = answer(path)
    if not output:
        raise _too_much(f"a model that takes more than {SECONDS} s or {MEMORY >> 30} GiB, or ends MuJoCo")
    if output[:1] == b"M" and len(output) < MAX_MODEL:
        return output[1:]
    text = output[1:].decode("utf-8", "replace") if output[:1] == b"E" else f"{len(output)} bytes, which is too much"
    if "allocate memory" in text:
        raise _too_much(f"a model that takes more than {MEMORY >> 30} GiB")
    raise _refused(text.replace(private, ""))


def answer(path: str) -> bytes:
    """Return the output of the child process that compiles the model at a path; empty if it fails."""
    command = [sys.executable, "-P", str(_BOUNDED), str(_CHILD), str(SECONDS), str(MEMORY), path]
    try:
        done = subprocess.run(
            command,
            cwd=os.path.dirname(path),  # MuJoCo looks here for files that are not beside the model
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=WAIT,
            check=False,
            env=os.environ | _ONE_THREAD,
        )
    except subprocess.TimeoutExpired:
        raise _too_much(f"a model that takes more than {WAIT} s") from None
    return b"" if done.returncode else done.stdout


def _too_much(got: str) -> FormatError:
    return FormatError(
        0, "", got, "one that MuJoCo compiles within these", "Take njmax and nconmax, meshes, or copies of bodies out."
    )


def _refused(output: str) -> FormatError:
    """Return the message of MuJoCo as an error, at the line that it names."""
    line = re.search(r"line (\d{1,9})", output)
    got = f"a model that MuJoCo does not compile ({output[:160]})"
    names_file = "file" in output.lower()
    hint = "Files that it names, such as meshes, have to be where it says." if names_file else ""
    return FormatError(int(line[1]) if line else 0, "", got, "a model that it does", hint)
