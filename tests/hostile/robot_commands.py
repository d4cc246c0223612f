"""The commands that read a robot file, what each may write, and a folder with what they need beside it."""

from __future__ import annotations

from pathlib import Path

from tests.hostile.robots import JOINT, LINKS, XML, YAML
from tests.hostile.stores import PRECIOUS

OUTPUT = "out.yaml"
WRITTEN = (OUTPUT, ".out.", "robot.schema.json", "sweep.schema.json", ".robot.schema.", ".sweep.schema.")
COMMANDS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "import": (("import", "FILE", "--output", OUTPUT), WRITTEN),
    "expand": (("import", "FILE", "--expand-macros", "--output", OUTPUT), WRITTEN),
    "identify": (("identify", "machine.yaml"), ()),
    "calibrate": (("calibrate", "poses.yaml"), ()),
    "run": (("run", "sweep.yaml", "--cluster", "c.yaml", "--store", "out.zarr"), ()),
    "new": (("new", "FILE", "--output", OUTPUT), WRITTEN),
}
"""Arguments, FILE for the robot file, and beginnings of names in the folder that may be written."""


def prepared(folder: Path, name: str = XML) -> Path:
    """A folder with descriptions and a sweep of the robot file `name`, a sound one in it, and a victim beside them."""
    victim = folder / "victim"
    victim.mkdir(parents=True)
    (victim / PRECIOUS).write_text("of somebody")
    (victim / "robot.xml").write_text(f'<robot name="secret">{LINKS}</robot>')
    (victim / "numbers.yaml").write_text("secret: 1\n")
    (victim / "m.stl").write_bytes(b"of somebody" * 20)
    inner = folder / "here"
    inner.mkdir()
    (inner / XML).write_text(f'<robot name="r">{LINKS}{JOINT}</robot>')
    (inner / "one.csv").write_text("t,q,f\n" + "".join(f"{0.01 * k},{0.001 * k * k},1\n" for k in range(50)))
    columns = "position: {columns: [q]}\nforce: {columns: [f]}\n"
    robot = f"limbsweep: 1\nrobot: ./{name}\n" if name == YAML else f"limbsweep: 1\nrobot: {name}\n"
    (inner / "machine.yaml").write_text(f"{robot}recordings: [{{files: [one.csv]}}]\ntime: {{column: t}}\n{columns}")
    (inner / "poses.yaml").write_text(
        f"{robot}poses: [{{files: [one.csv]}}]\nactuators: {{columns: [q]}}\nposition: {{columns: [t, q, f]}}\n"
        "estimate: {parameters: [b_mass]}\n"
    )
    (inner / "sweep.yaml").write_text(f"{robot}trajectories: {{a: {{kind: rest}}}}\ntime: {{stop: 1, step: 0.5}}\n")
    (inner / "c.yaml").write_text("limbsweep: {cluster: {kind: synchronous}}\n")
    return inner / name
