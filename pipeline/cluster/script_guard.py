"""Guard of a script whose run starts worker processes: `if __name__ == "__main__":` around its calls.

Worker processes of this machine import the script again. Without the guard each of them would begin the same run, which
Python ends by an error in every one.
"""

from __future__ import annotations

import ast
import sys
import threading
from pathlib import Path
from types import FrameType

from pipeline.errors import InputError, Problem

NAME = "__name__"


def require_guard() -> None:
    """Check that the script of this process calls from below its guard, where there is a script.

    Raises InputError with the line of the call; notebooks, consoles and `python -m` have no script.
    """
    main = sys.modules.get("__main__")
    file = getattr(main, "__file__", None)
    frame = _top_frame(vars(main)) if main is not None and file and getattr(main, "__spec__", None) is None else None
    if frame is None or file is None:
        return
    try:
        text = Path(file).read_text(encoding="utf-8")
        guarded = is_guarded(text, frame.f_lineno)
    except (OSError, SyntaxError, ValueError):
        return  # no text to judge, such as that of an archive
    if not guarded:
        got = 'a call outside of `if __name__ == "__main__":`'
        hint = "Worker processes import the script, and would run it again. Or compute in threads: cluster"
        hint += '=ls.ClusterConfig.of("threads").'
        raise InputError([Problem(file, frame.f_lineno, 1, "", got, "the call below that line", hint)])


def is_guarded(text: str, line: int) -> bool:
    """Return whether a line of a script is reached only after a condition on `__name__` at its top level."""
    conditions = (node for node in ast.parse(text).body if isinstance(node, ast.If) and node.lineno <= line)
    return any(_mentions_name(node.test) for node in conditions)


def _mentions_name(test: ast.expr) -> bool:
    return any(isinstance(node, ast.Name) and node.id == NAME for node in ast.walk(test))


def _top_frame(names: dict[str, object]) -> FrameType | None:
    """Return the frame of the main thread in which the top level of the script runs; None where it has ended."""
    frame = sys._current_frames().get(threading.main_thread().ident or 0)
    while frame is not None and not (frame.f_code.co_name == "<module>" and frame.f_globals is names):
        frame = frame.f_back
    return frame
