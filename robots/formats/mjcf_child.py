"""Compile a model of MuJoCo in a process of its own, with bounds of time and memory: run by `bounded`, as a file.

Argument: path. Writes `M` and the compiled model to standard output, or `E` and MuJoCo's message. It imports no module
of limbsweep, and the process can write no file.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any, BinaryIO


def write_model(path: str, stream: BinaryIO) -> None:
    """Compile the model at a path, and write it or MuJoCo's message."""
    import mujoco
    import numpy as np

    mujoco.set_mju_user_warning(lambda text: None)
    try:
        model = _weighed(mujoco, path)
        buffer = np.empty(1 + mujoco.mj_sizeModel(model), np.uint8)
        buffer[0] = ord("M")
        mujoco.mj_saveModel(model, None, buffer[1:])
        answer = buffer.data
    except MemoryError:
        answer = memoryview(b"Eout of memory")
    except (ValueError, RuntimeError, OverflowError) as error:
        answer = memoryview(b"E" + " ".join(str(error).split())[:1000].encode("utf-8", "replace"))
    stream.write(answer)
    stream.flush()


def _weighed(mujoco: ModuleType, path: str) -> Any:
    """Return the model without its shapes where bodies keep their mass: hulls and meshes take most time and memory."""
    try:
        spec = mujoco.MjSpec.from_file(path)
        weightless = set[str]()
        for shape in list(spec.geoms):
            shape.contype = shape.conaffinity = 0
            if shape.type == mujoco.mjtGeom.mjGEOM_MESH and 0.0 in (shape.mass, shape.density):
                weightless.add(shape.meshname)
                spec.delete(shape)
        weightless -= {part.meshname for part in (*spec.geoms, *spec.sites)}
        for mesh in list(spec.meshes):
            if (mesh.name or Path(mesh.file).stem) in weightless:
                spec.delete(mesh)
        spec.compiler.discardvisual = True
        return spec.compile()
    except (ValueError, RuntimeError):  # of shapes that have to stay too: MuJoCo says which
        return mujoco.MjModel.from_xml_path(path)


if __name__ == "__main__":
    write_model(sys.argv[1], sys.stdout.buffer)
