"""Quantities that a robot or a source of motion cannot have, refused with the missing property.

Needs that a section of the file meets (limits, criteria, a supply) are checked with that section.
"""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.sweep.reading import SweepReading
from pipeline.sweep.simulated.axes import SimulationAxes
from robots.data_classes import dataclass, replace
from robots.model import Mechanism
from robots.quantities import QUANTITIES, Need, needs
from robots.simulation import TREE

OF_ROBOT: Mapping[Need, str] = {
    "motors": "Its actuators are not all drives with a motor; take for instance actuator_force or energy.",
    "as many actuators as freedoms": "It has {actuators} actuators for {freedoms} freedoms; take mass_matrix.",
    "constraints": "It has no platform that limbs hold; a chain says CONSTRAINT_SINGULAR without it.",
    "platform": "It has no platform; take joint_position or actuator_position.",
    "voltages": "Its windings have an inductance, whose voltage is L di/dt, and a given motion does not say how fast "
    "its forces change. Simulate it under a controller, or take motor_current.",
}
"""Reasons why a robot lacks the property that quantities need."""

OF_SOURCE: Mapping[Need, str] = {
    "simulation": "The motion is given: nothing is integrated, and no controller follows it. Add simulation.",
    "given motion": "It asks how fast a given path can be gone; in a simulation the forces decide how fast it is.",
    "friction of a given motion": "The integration settles friction in every step, or ends the case; see worst_status.",
    "workspace": "The points of a grid are no motion in time, which a simulation could follow.",
    "controller": "There is no controller, and so no reference; add one, or take another.",
    "tolerance": "Steps are as long as step says; add tolerance, or leave it out.",
    "branch": "It needs the branch of limbs, which motions leave at singular points. Take method rk4 without stops, or "
    "poses, twists, positions and velocities of joints and actuators, actuator_force, work, dissipated_energy.",
    "saturation": "Nothing limits the motors; add saturation and limits of current and voltage.",
}
"""Reasons why a source of motion, given or simulated, lacks the property that quantities need."""


@dataclass(frozen=True)
class MotionSource:
    """Source of the motion of a sweep, as far as quantities need it: given, or simulated in some way."""

    simulated: bool = False
    controller: bool = False
    tolerance: bool = False
    saturation: bool = False
    branch: bool = True

    @property
    def lacks(self) -> tuple[Need, ...]:
        """List the needs that it does not meet."""
        if not self.simulated:
            return ("simulation",)
        met: dict[Need, bool] = {
            "given motion": False,
            "friction of a given motion": False,
            "workspace": False,
            "controller": self.controller,
            "tolerance": self.tolerance,
            "saturation": self.saturation,
            "branch": self.branch,
        }
        return tuple(need for need, there in met.items() if not there)


def lacking(mechanism: Mechanism | None, source: MotionSource) -> dict[Need, str]:
    """Return the needs that a robot and a source of motion do not meet, each with its reason."""
    lacks = {need: OF_SOURCE[need] for need in source.lacks}
    if mechanism is None:
        return lacks
    actuators, freedoms = len(mechanism.actuators), len(mechanism.freedoms)
    missing: dict[Need, bool] = {
        "motors": not mechanism.motors,
        "as many actuators as freedoms": actuators != freedoms,
        "constraints": mechanism.is_chain,
        "platform": mechanism.is_chain,
        "voltages": mechanism.has_windings and not source.simulated,
    }
    sizes = {"actuators": actuators, "freedoms": freedoms}
    return lacks | {need: OF_ROBOT[need].format(**sizes) for need, absent in missing.items() if absent}


def lacking_of(mechanism: Mechanism, axes: SimulationAxes | None) -> dict[Need, str]:
    """Return the source of motion of a sweep that has been read, with its simulation."""
    source = MotionSource()
    if axes is not None:
        chosen = axes.simulation
        source = MotionSource(True, chosen.controller is not None, bool(chosen.tolerance), chosen.saturation)
        source = replace(source, branch=chosen.method != TREE)
    return lacking(mechanism, source)


def check_quantities(reading: SweepReading) -> None:
    """Refuse outputs and metrics that this robot, or a motion from this source, does not have."""
    report, file = reading.report, reading.file
    section, source = file.simulation, MotionSource()
    if section is not None:
        controlled, tolerance = section.controller is not None, section.tolerance is not None
        source = MotionSource(True, controlled, tolerance, bool(section.saturation))
        source = replace(source, branch=section.method != TREE and not section.stops)
    lacks = lacking(reading.mechanism, source)
    for key, names in (("outputs", file.outputs), ("metrics", file.metrics)):
        for index, name in enumerate(names):
            for need in [need for need in needs(name) if need in lacks][:1]:
                owner = "robot" if need in OF_ROBOT else "simulation" if source.simulated else "sweep"
                report((key, index), name, f"a variable that this {owner} has", lacks[need])


FULL = MotionSource(simulated=True, controller=True, tolerance=True, saturation=True)
"""A simulation with all that a simulation can have."""


def availability(source: MotionSource) -> dict[str, str]:
    """Return for each quantity why motions from a source never have it; an empty text where they do."""
    return {
        name: next((OF_SOURCE[need] for need in row.needs if need in source.lacks), "")
        for name, row in QUANTITIES.items()
    }
