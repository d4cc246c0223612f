"""Joint states in bags of ROS 1 and 2.

A process with bounds of memory and time unpacks a bag, as the packages that read it have none. The named file alone is
read; metadata beside it, which may name other files, are not.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from pipeline.documents.tables import bag_reader
from pipeline.documents.tables.columns import MIB, Bounds, Columns, ReadColumns, columns_of
from pipeline.documents.tables.numpy_files import npz_variables
from pipeline.errors import InputError, refused
from robots.extras import require_extra

SECONDS = 120
"""Time to unpack a bag."""


def open_bag(path: str, file: str, bounds: Bounds) -> Columns:
    """Return the columns of the joint states in a bag, named as in `bag_reader`. Raises InputError."""
    require_extra("rosbags")
    with tempfile.TemporaryDirectory(prefix="limbsweep-bag-") as folder:
        output = Path(folder) / "columns.npz"
        command = [sys.executable, "-m", bag_reader.__name__, os.path.abspath(path), str(output), str(bounds.values)]
        places = os.pathsep.join(place for place in sys.path if place)
        environment = os.environ | {"PYTHONPATH": places, "PYTHONSAFEPATH": "1", "OPENBLAS_NUM_THREADS": "1"}
        try:
            done = subprocess.run(command, env=environment, capture_output=True, timeout=SECONDS, check=False)
        except subprocess.TimeoutExpired:
            raise refused(file, f"a bag that takes more than {SECONDS} s to unpack", "a shorter one") from None
        if done.returncode:
            raise _unread(file, done, bounds)
        with output.open("rb") as stream:
            columns = columns_of(file, npz_variables(stream, file, bounds), bounds)
            found = columns.read(columns.names).columns
    return Columns(file, columns.names, lambda names: ReadColumns({name: found[name] for name in names}))


def _unread(file: str, done: subprocess.CompletedProcess[bytes], bounds: Bounds) -> InputError:
    """Return the error of a bag that the process did not unpack."""
    lines = done.stderr.decode(errors="replace").strip().splitlines()
    text = lines[-1][:200] if lines else f"the reader ended with {done.returncode}"
    if "MemoryError" in text or done.returncode < 0:
        text = f"it takes more than {bag_reader.memory(bounds.values) // MIB} MiB or {bag_reader.SECONDS} s to unpack"
    hint = "Record the topic joint_states alone."
    return refused(file, f"a file that is no bag of joint states: {text}", "a bag of ROS 1 or 2", hint)
