"""Bodies of the identified Panda beside published ones, as its exported URDF file has them.

    python -m benchmarks.campaigns.bodies FOLDER

FOLDER has `panda.csv` (see `examples/recordings/panda.yaml`) and `inertials.yaml`, the maker's bodies: repository
frankarobotics/franka_description (Apache 2), robots/fer/inertials.yaml. The robot of the catalogue has the bodies of
Gaz et al. 2019, who identified them from this recording. Parameters that a recording does not determine stay near the
initial robot, so the machine is identified twice, from both robots. The first table has masses and the distance of the
centres of mass from those of Gaz. The second has the unexplained share of the recorded forces for each set of bodies,
with offsets, friction and drives of their own, and the distance of their base parameters from the identified ones, in
standard deviations.
"""

from __future__ import annotations

import argparse
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from ruamel.yaml import YAML

from applications.identification.estimation.machines.coupled_friction import with_inertia
from applications.identification.estimation.machines.fitting import MachineFit
from applications.identification.estimation.machines.machine import RecordedMachine
from applications.identification.machines.description import read_description
from applications.identification.machines.identify import MachineIdentification, identify_recordings
from applications.identification.machines.urdf_text import urdf_text
from robots.formats.description import Description, describe
from robots.model import Inertia, Robot
from tasks.dynamics.inertial_parameters import BODY, TENSOR, body_parameters

EXAMPLE = Path(__file__).parents[2] / "examples" / "recordings" / "panda.yaml"
SIZE = len(BODY)


@dataclass(frozen=True)
class Bodies:
    """Bodies of the links from the first on: masses [kg], centres (body, 3) [m], ten parameters (body, 10)."""

    name: str
    mass: np.ndarray
    centre: np.ndarray
    parameters: np.ndarray

    @classmethod
    def of(cls, name: str, inertias: Sequence[Inertia]) -> Bodies:
        """Return the bodies of some inertias."""
        return cls(
            name,
            np.array([inertia.mass for inertia in inertias], dtype=float),
            np.array([inertia.centre for inertia in inertias], dtype=float),
            np.array([body_parameters(inertia) for inertia in inertias], dtype=float),
        )


def makers(path: Path) -> list[Inertia]:
    """Read the bodies of the maker; the hand is not in the recording."""
    data = YAML(typ="safe", pure=True).load(path)
    bodies = []
    for k in range(1, 8):
        body = data[f"link{k}"]
        tensor = np.zeros((3, 3))
        for i, j in TENSOR:
            tensor[i, j] = tensor[j, i] = float(body["inertia"]["xyz"[i] + "xyz"[j]])
        bodies.append(_inertia(float(body["mass"]), [float(x) for x in str(body["origin"]["xyz"]).split()], tensor))
    return bodies


def _inertia(mass: float, centre: Sequence[float], tensor: np.ndarray) -> Inertia:
    x, y, z = centre
    first, second, third = ((float(a), float(b), float(c)) for a, b, c in tensor)
    return Inertia(mass, (x, y, z), (first, second, third))


def exported(result: MachineIdentification) -> list[Inertia]:
    """Return the bodies of the URDF file of a result."""
    bodies = []
    for link in ElementTree.fromstring(urdf_text(result.robot())).findall("link"):
        if (body := link.find("inertial")) is None:
            continue
        origin, mass, inertia = (body.find(tag) for tag in ("origin", "mass", "inertia"))
        assert origin is not None, "an exported body has a place"
        assert mass is not None, "an exported body has a mass"
        assert inertia is not None, "an exported body has an inertia"
        tensor = np.zeros((3, 3))
        for i, j in TENSOR:
            tensor[i, j] = tensor[j, i] = float(inertia.attrib["i" + "xyz"[i] + "xyz"[j]])
        centre = [float(x) for x in origin.attrib["xyz"].split()]
        bodies.append(_inertia(float(mass.attrib["value"]), centre, tensor))
    return bodies


def robot_with(robot: Robot, bodies: Bodies, machine: RecordedMachine) -> Robot:
    """Return the robot with other bodies."""
    values = machine.nominal.copy()
    values[: bodies.parameters.size] = bodies.parameters.ravel()
    family = describe(robot)
    mechanism = with_inertia(robot, values.tolist())
    return Robot.of(Description(family.name, family.title, family.source, (), (), mechanism).family, {})


def unexplained(machine: RecordedMachine, bodies: Bodies, noise: np.ndarray) -> float:
    """Return the share of the forces that bodies leave, with the other columns estimated, rows over the noise."""
    run = machine.runs[0]
    weights = np.broadcast_to(1.0 / noise, run.good.shape)[run.good]
    count = bodies.parameters.size
    matrix, forces = run.matrix[run.good], run.linear_forces[run.good]
    remaining = forces - matrix[:, :count] @ bodies.parameters.ravel()
    beside = matrix[:, count:] * weights[:, None]
    sizes = np.maximum(np.linalg.norm(beside, axis=0), np.finfo(float).tiny)
    values = np.linalg.lstsq(beside / sizes, remaining * weights, rcond=None)[0] / sizes
    return float(np.linalg.norm(remaining - matrix[:, count:] @ values) / np.linalg.norm(forces))


def apart(machine: RecordedMachine, fit: MachineFit, bodies: Bodies) -> np.ndarray:
    """Return the distance of base parameters of bodies from the identified ones, over their deviations."""
    count = bodies.parameters.size
    values = np.concatenate([bodies.parameters.ravel(), np.zeros(len(machine.columns) - count)])
    base = machine.base.of(values)[list(fit.kept)]
    alone = [not machine.base.groups[k, count:].any() for k in fit.kept]
    return np.abs((base - fit.values) / fit.deviations)[alone]


def rows(folder: Path) -> Iterator[str]:
    """Yield the lines of both tables."""
    description = read_description(EXAMPLE, folder=folder)
    first = identify_recordings(description)
    machine = first.machine
    gaz = Bodies.of("Gaz", [link.inertia for link in description.robot.mechanism.limbs[0].links])
    maker = Bodies.of("maker", makers(folder / "inertials.yaml"))
    again = identify_recordings(replace(description, robot=robot_with(description.robot, maker, machine)))
    sets = (gaz, maker, Bodies.of("from Gaz", exported(first)), Bodies.of("from maker", exported(again)))
    masses = " | ".join(f"{each.name} [kg]" for each in sets)
    yield f"| body | {masses} | {' | '.join(f'{each.name}, centre [mm]' for each in sets[1:])} |"
    yield f"|---|{'---:|' * (len(sets) + 3)}"
    for k in range(len(gaz.mass)):
        masses = " | ".join(f"{each.mass[k]:.3f}" for each in sets)
        centres = " | ".join(f"{1e3 * np.linalg.norm(each.centre[k] - gaz.centre[k]):.0f}" for each in sets[1:])
        yield f"| {k + 1} | {masses} | {centres} |"
    yield f"| all | {' | '.join(f'{each.mass.sum():.3f}' for each in sets)} | | | |"
    yield ""
    yield "| bodies | not explained | base parameters apart, deviations: median | most |"
    yield "|---|---:|---:|---:|"
    for each in sets:
        distance = apart(machine, first.fit, each)
        share = unexplained(machine, each, first.fit.noise)
        yield f"| {each.name} | {share:.2%} | {np.median(distance):.1f} | {distance.max():.1f} |"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    for row in rows(parser.parse_args().folder):
        print(row, flush=True)


if __name__ == "__main__":
    main()
