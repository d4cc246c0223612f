"""Run a file of Python in a process with bounds of time and memory: by `mjcf_model` and `usd`, as a file itself.

Arguments: the file, seconds, bytes, then the arguments of the file. It imports no module of limbsweep, and the process
can write no file.
"""

from __future__ import annotations

import runpy
import sys


def limit(seconds: int, size: int) -> None:
    """Limit this process if the system can: processor time [s], memory [bytes], and no file, no core dump."""
    try:
        import resource
    except ImportError:  # on Windows the parent's clock is the only bound
        return
    bounds = {resource.RLIMIT_CPU: seconds, resource.RLIMIT_AS: size, resource.RLIMIT_FSIZE: 0, resource.RLIMIT_CORE: 0}
    for kind, bound in bounds.items():
        hard = resource.getrlimit(kind)[1]
        bound = bound if hard == resource.RLIM_INFINITY else min(bound, hard)
        resource.setrlimit(kind, (bound, bound))


if __name__ == "__main__":
    limit(int(sys.argv[2]), int(sys.argv[3]))
    sys.argv = [sys.argv[1], *sys.argv[4:]]
    runpy.run_path(sys.argv[0], run_name="__main__")
