"""Identification of the public recordings by a script of NumPy, SciPy and Pinocchio alone, from files to parameters.

    python -m benchmarks.campaigns.independent FOLDER NAME

Nothing of limbsweep is used: files are read, filtered, differentiated and decimated here, columns of bodies are those
of `pinocchio.computeJointTorqueRegressor`, base parameters those of a QR factorisation, the estimate least squares,
ordinary or weighted by the residuals of each joint. With FIGAROH where it is installed, columns of bodies and base
parameters are its own. Sources: Gautier 1991; Swevers, Verdonck, De Schutter 2007.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.io import loadmat
from scipy.linalg import qr
from scipy.ndimage import binary_opening
from scipy.signal import butter, sosfiltfilt

WEIGHINGS = 3
"""Times that rows are weighted anew."""
RANK = 1e-7
"""Least part of its length that a column has of its own, to count as independent."""
BODY = ("mass", "mx", "my", "mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")
"""Order of the parameters of a body in Pinocchio."""
BODIES = '<inertial><mass value="100"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
LIMITS = '<limit lower="-9" upper="9" effort="1" velocity="1"/></joint>'
EMPS = f"""\
<robot name="emps"><link name="base"/><joint name="slide" type="prismatic"><parent link="base"/><child link="carriage"/>
<axis xyz="1 0 0"/>{LIMITS}<link name="carriage">{BODIES}</robot>
"""
GAIN = 35.15065188
RATIOS = np.array([32.0, 32.0, 45.0, -48.0, 45.0, 32.0])
CURRENTS = np.array([14.87, 13.26, 11.13, 10.62, 11.03, 11.47])

KR300_RATIOS = np.array([256.857142857, 267.428571429, 252.333333333, 221.0, 239.619047619, 154.323134328])
KR300 = ((0.0, 0.0, 0.0, 180), (0.35, 0.0, -0.675, 90), (1.15, 0.0, -0.189, 0), (0.041, 0.0, 0.189, -90),
         (0.0, 0.0, -1.0, 90), (0.0, 0.0, 0.0, -90))  # fmt: skip
PANDA = ((0.0, 0.0, 0.333, 0), (0.0, 0.0, 0.0, -90), (0.0, -0.316, 0.0, 90), (0.0825, 0.0, 0.0, 90),
         (-0.0825, 0.384, 0.0, -90), (0.0, 0.0, 0.0, 90), (0.088, 0.0, 0.0, 90))  # fmt: skip
"""Frames of the axes, each in the one before: position [m] and turn about x [degrees] (modified Denavit-Hartenberg)."""
TIAGO = ("position", "velocity", "effort")
TIAGO_GAINS = np.array([1.0, 13.6, 13.6, -8.7, -8.7, -20.5968, -20.5968, -20.5968])


@dataclass(frozen=True)
class JointSignals:
    """One file in SI units and coordinates of the joints: time (samples,), the others (samples, joint)."""

    time: np.ndarray
    position: np.ndarray
    force: np.ndarray
    velocity: np.ndarray | None = None


def read_emps(folder: Path) -> list[JointSignals]:
    """Read both tests of EMPS."""
    tables = [loadmat(folder / name) for name in ("DATA_EMPS.mat", "DATA_EMPS_PULSES.mat")]
    return [JointSignals(t["t"].ravel(), t["qm"].reshape(-1, 1), GAIN * t["vir"].reshape(-1, 1)) for t in tables]


def read_tx40(folder: Path) -> list[JointSignals]:
    """Return the recording of the TX40, whose sixth motor turns by the sum of two joints."""
    ratios = np.diag(RATIOS)
    ratios[5, 4] = RATIOS[5]
    motors, torques = (
        np.loadtxt(folder / f"{name}.csv", delimiter=",", skiprows=1) for name in ("pos_read_data", "curr_data")
    )
    zero = np.array([0.0, -np.pi / 2, np.pi / 2, 0.0, 0.0, 0.0])
    position = np.linalg.solve(ratios, motors[:, -6:].T).T + zero
    return [JointSignals(np.arange(len(position)) / 5000.0, position, torques[:, -6:] @ ratios)]


def read_ur10e(folder: Path) -> list[JointSignals]:
    """Return the recordings of the UR10e: training, another series, point to point."""
    names = ("ur-20_02_10-30sec_12harm", "ur-20_02_06-20sec_5harm", "ptp")
    tables = [np.loadtxt(folder / f"{name}.csv", delimiter=",") for name in names]
    return [JointSignals(t[:, 0], t[:, 1:7], t[:, 13:19] * CURRENTS, t[:, 7:13]) for t in tables]


def read_tiago(folder: Path) -> list[JointSignals]:
    """Return the recording of TIAGo's torso and arm."""
    tables = (np.loadtxt(folder / f"tiago_{name}.csv", delimiter=",", skiprows=1) for name in TIAGO)
    position, velocity, effort = tables
    return [JointSignals(position[:, 0], position[:, 1:], effort[:, 1:] * TIAGO_GAINS, velocity[:, 1:])]


def read_airbot(folder: Path) -> list[JointSignals]:
    """Return the chirp of the AIRBOT Play without load, and its trapezoidal motion."""
    recordings = []
    for motion in ("chirp", "trapezoidal"):
        files = [folder / f"{motion}_motion_identification_{name}_real.csv" for name in ("q", "tau")]
        position, torque = (np.loadtxt(file, delimiter=",", skiprows=1) for file in files)
        recordings.append(JointSignals(np.arange(len(position)) / 100.0, position, torque))
    return recordings


def read_kr300(folder: Path) -> list[JointSignals]:
    """Return the three recordings of the KR 300, of which the first is for training."""
    tables = [loadmat(folder / f"{name}.mat", simplify_cells=True)["rec"] for name in "abc"]
    zero = np.array([0.0, -np.pi / 2, np.pi, 0.0, 0.0, 0.0])
    return [
        JointSignals(
            t["time_cont"],
            np.deg2rad(t["act_pos_mot_deg"].T) + zero,
            t["act_torque_abs_nm"].T * KR300_RATIOS,
            np.deg2rad(t["act_vel_mot_deg_per_s"].T),
        )
        for t in tables
    ]


def read_panda(folder: Path) -> list[JointSignals]:
    """Return the recording of the Panda."""
    table = np.loadtxt(folder / "panda.csv", delimiter=",")
    return [JointSignals(table[:, 0], table[:, 1:8], table[:, 8:15])]


def chain(joint: str, frames: Sequence[tuple[float, float, float, float]]) -> str:
    """Return the URDF of an arm whose joints turn about the z axes of frames."""
    parts = []
    for k, (x, y, z, turn) in enumerate(frames, 1):
        parent = f"link_{k - 1}" if k > 1 else "base"
        parts.append(
            f'<joint name="{joint}{k}" type="revolute"><parent link="{parent}"/><child link="link_{k}"/>'
            f'<origin xyz="{x} {y} {z}" rpy="{np.deg2rad(turn)} 0 0"/><axis xyz="0 0 1"/>{LIMITS}'
            f'<link name="link_{k}">{BODIES}'
        )
    return f'<robot name="arm"><link name="base"/>{"".join(parts)}</robot>'


@dataclass(frozen=True)
class Published:
    """A machine: reader of its files, filter and rows per second of its publication, drives of several joints.

    Rows a second are twice the cutoff where they are 0. urdf: name of the file beside the recordings, or the text.
    rest: speed of a joint at rest over its largest, whose rows are left out.
    """

    read: Callable[[Path], list[JointSignals]]
    urdf: str
    cutoff: float
    order: int = 4
    rate: float = 0.0
    drives: tuple[tuple[int, tuple[float, ...]], ...] = ()
    rest: float = 0.0

    def file(self, folder: Path, scratch: Path) -> Path:
        """Return the URDF file, written into `scratch` where it is a text."""
        if not self.urdf.startswith("<"):
            return folder / self.urdf
        path = scratch / "machine.urdf"
        path.write_text(self.urdf, encoding="utf-8")
        return path


SOURCES = {
    "emps": Published(read_emps, EMPS, 100.0),
    "tx40": Published(read_tx40, "tx40.urdf", 100.0, rate=500.0, drives=((6, (0.0, 0.0, 0.0, 0.0, 1.0, 1.0)),)),
    "ur10e": Published(read_ur10e, "ur10e.urdf", 7.5, order=5, rate=100.0, rest=0.01),
    "kr300": Published(read_kr300, chain("a", KR300), 10.0, rest=0.01),
    "panda": Published(read_panda, chain("joint_", PANDA), 10.0, rest=0.01),
    "tiago": Published(read_tiago, "tiago_arm.urdf", 10.0, rest=0.01),
    "airbot": Published(read_airbot, "airbot_play_v3_0_gripper.urdf", 10.0, rest=0.01),
}

Columns = Callable[[Path, np.ndarray, np.ndarray, np.ndarray], np.ndarray]
"""URDF and positions, velocities, accelerations of joints: inertial columns (samples, joint, column)."""
Solver = Callable[[np.ndarray, np.ndarray, Sequence[str]], tuple[np.ndarray, int]]
"""Matrix (rows, column), forces (rows,) and names: values of all columns, zero for dependent ones; and the rank."""


def by_pinocchio(urdf: Path, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
    """Return the columns of bodies by Pinocchio."""
    import pinocchio

    model = pinocchio.buildModelFromUrdf(str(urdf))
    data = model.createData()
    states = zip(q, qd, qdd, strict=True)
    rows = [pinocchio.computeJointTorqueRegressor(model, data, *state).copy() for state in states]
    return np.array(rows).reshape(*q.shape, -1)


def by_figaroh(urdf: Path, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
    """Return the columns of bodies by FIGAROH, in the order of Pinocchio."""
    import pinocchio
    from figaroh.tools.regressor import build_regressor_basic

    samples, joints = q.shape
    options = {"is_joint_torques": True, "act_idxv": list(range(joints))}
    # its own reader wants the meshes, which no columns need
    robot = pinocchio.RobotWrapper(pinocchio.buildModelFromUrdf(str(urdf)))
    matrix = np.asarray(build_regressor_basic(robot, q, qd, qdd, options))
    return matrix.reshape(joints, samples, -1).transpose(1, 0, 2)


def by_numpy(matrix: np.ndarray, forces: np.ndarray, names: Sequence[str]) -> tuple[np.ndarray, int]:
    """Compute ordinary least squares of the columns that QR keeps, from left to right."""
    sizes = np.linalg.norm(matrix, axis=0)
    moved = np.flatnonzero(sizes > RANK * sizes.max())
    triangle = np.abs(np.diag(qr(matrix[:, moved] / sizes[moved], mode="r")[0]))
    kept = moved[triangle > RANK]
    values = np.zeros(len(names))
    values[kept] = np.linalg.lstsq(matrix[:, kept] / sizes[kept], forces, rcond=None)[0] / sizes[kept]
    return values, len(kept)


def of_figaroh(matrix: np.ndarray, forces: np.ndarray, names: Sequence[str]) -> tuple[np.ndarray, int]:
    """Compute base parameters and least squares by FIGAROH, columns scaled to length one."""
    from figaroh.tools.qrdecomposition import QRDecomposer

    sizes = np.linalg.norm(matrix, axis=0)
    moved = np.flatnonzero(sizes > RANK * sizes.max())
    # its tolerances are absolute
    result = QRDecomposer(tolerance=RANK).decompose(
        matrix[:, moved] / sizes[moved], [names[k] for k in moved.tolist()], forces
    )
    values = np.zeros(len(names))
    kept = moved[list(result.base_indices)]
    values[kept] = result.phi_b / sizes[kept]
    return values, result.rank


PROGRAMS: dict[str, tuple[Columns, Solver]] = {
    "NumPy and Pinocchio": (by_pinocchio, by_numpy),
    "FIGAROH": (by_figaroh, of_figaroh),
}


@dataclass(frozen=True)
class IndependentFit:
    """Values of standard parameters, of which dependent ones are zero, by name; rank; residuals over forces; seconds.

    across: of the file for training, each fifth of its rows by the others. predicted: forces of each file at the rows
    of the fit (rows,).
    """

    values: dict[str, float]
    rank: int
    rows: int
    errors: list[float]
    across: float
    seconds: float
    predicted: list[np.ndarray] = field(repr=False)


def fitted(
    source: Published, folder: Path, scratch: Path, program: str, *, is_weighted: bool = False
) -> IndependentFit:
    """Identify a machine of which the first file is for training; rows are weighted by the residuals of their joint."""
    started = time.perf_counter()
    bodies, solver = PROGRAMS[program]
    urdf = source.file(folder, scratch)
    rows = [rows_of(signals, source, urdf, bodies) for signals in source.read(folder)]
    parts = [(matrix[moves], forces[moves]) for matrix, forces, moves in rows]
    names = _names(urdf, source)
    joints = np.nonzero(rows[0][2])[1]

    def estimated(kept: np.ndarray) -> tuple[np.ndarray, int]:
        matrix, forces, joint = parts[0][0][kept], parts[0][1][kept], joints[kept]
        found = solver(matrix, forces, names)
        for _ in range(WEIGHINGS if is_weighted else 0):
            left = forces - matrix @ found[0]
            size = np.array([np.std(left[joint == k]) for k in range(joints.max() + 1)])[joint]
            found = solver(matrix / size[:, None], forces / size, names)
        return found

    every = np.arange(len(joints))
    values, rank = estimated(every)
    predicted = [matrix @ values for matrix, _ in parts]
    errors = [
        float(np.linalg.norm(forces - other) / np.linalg.norm(forces))
        for (_, forces), other in zip(parts, predicted, strict=True)
    ]
    spent = time.perf_counter() - started
    held_out = np.concatenate(
        [
            parts[0][1][part] - parts[0][0][part] @ estimated(np.delete(every, part))[0]
            for part in np.array_split(every, 5)
        ]
    )
    across = float(np.linalg.norm(held_out) / np.linalg.norm(parts[0][1]))
    by_name = dict(zip(names, values.tolist(), strict=True))
    return IndependentFit(by_name, rank, len(parts[0][1]), errors, across, spent, predicted)


def _names(urdf: Path, source: Published) -> list[str]:
    import pinocchio

    model = pinocchio.buildModelFromUrdf(str(urdf))
    links = [next(f.name for f in model.frames if f.parentJoint == k and f.type == pinocchio.BODY)
             for k in range(1, model.njoints)]  # fmt: skip
    joints = list(model.names)[1:]
    result = [f"{link}.{parameter}" for link in links for parameter in BODY]
    result += [f"{joint}.{key}" for key in ("armature", "coulomb", "viscous", "offset") for joint in joints]
    return result + [f"drive_{k}.{key}" for k, _ in source.drives for key in ("inertia", "coulomb", "viscous")]


def rows_of(
    signals: JointSignals, source: Published, urdf: Path, bodies: Columns
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return filtered columns (samples, joint, column), forces (samples, joint), a mask of moving joints of a file."""
    steps = np.diff(signals.time)
    step = float(np.mean(steps)) if np.ptp(steps) < 1e-3 * np.median(steps) else float(np.median(steps))
    uniform = np.arange(signals.time[0], signals.time[-1] + 1e-9, step)

    def straight(values: np.ndarray) -> np.ndarray:
        return np.stack([np.interp(uniform, signals.time, column) for column in values.T], axis=1)

    def smooth(values: np.ndarray, dt: float) -> np.ndarray:
        sections = butter(source.order, source.cutoff, fs=1.0 / dt, output="sos")
        padding = min(len(values) - 1, round(3.0 / (source.cutoff * dt)))
        return np.asarray(sosfiltfilt(sections, values, axis=0, padlen=padding))

    q = smooth(CubicSpline(signals.time, signals.position)(uniform), step)
    qd = np.gradient(q, step, axis=0) if signals.velocity is None else smooth(straight(signals.velocity), step)
    qdd = np.gradient(qd, step, axis=0)
    force = smooth(straight(signals.force), step)
    every = max(1, round(1.0 / ((source.rate or 2.0 * source.cutoff) * step)))
    stride = max(1, every // 8)
    q, qd, qdd, force = (values[::stride] for values in (q, qd, qdd, force))
    parts = [bodies(urdf, q, qd, qdd)]
    parts += [shape[:, :, None] * np.eye(q.shape[1]) for shape in (qdd, np.sign(qd), qd, np.ones_like(qd))]
    for _, row in source.drives:
        turned = [np.asarray(values @ row) for values in (qdd, qd, qd)]
        shapes = turned[0], np.sign(turned[1]), turned[2]
        parts.append(np.stack([shape[:, None] * np.array(row) for shape in shapes], axis=2))
    matrix = smooth(np.concatenate(parts, axis=2), step * stride)
    ends = max(3, round(2.0 / (source.cutoff * step * stride)))
    kept = slice(ends, len(matrix) - ends, max(1, round(every / stride)))
    # at rest for longer than the filter remembers
    slow = np.abs(qd) < source.rest * np.abs(qd).max(axis=0)
    memory = round(1.0 / (source.cutoff * step * stride))
    resting = binary_opening(slow, np.ones((memory, 1), dtype=bool)) if source.rest else slow
    return matrix[kept], force[kept], ~resting[kept]


WAYS = {"script, ordinary": False, "script, weighted": True}
"""Names of the estimates of the script, and whether they are weighted."""


def plain_row(name: str, folder: Path, text: str, is_weighted: bool) -> str:
    """Return the row of a table: rows, parameters, and the script's unexplained share of the forces of each file."""
    with TemporaryDirectory() as scratch:
        fit = fitted(SOURCES[name], folder, Path(scratch), "NumPy and Pinocchio", is_weighted=is_weighted)
    shares = ", ".join(f"{error:.2%}" for error in fit.errors)
    return (
        f"| `{name}` | {text} | {fit.rows} | {fit.rank} | {shares}; fifths {fit.across:.2%} | | {fit.seconds:.1f} | |"
    )


def main() -> None:
    """Print the share of the forces that the script leaves unexplained."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("folder", type=Path, help="folder of the files of the machine")
    parser.add_argument("name", choices=sorted(SOURCES))
    arguments = parser.parse_args()
    for text, is_weighted in WAYS.items():
        print(plain_row(arguments.name, arguments.folder, text, is_weighted), flush=True)


if __name__ == "__main__":
    main()
