"""Elements and attributes of URDF and SDF files that are read, and elements without effect on dynamics.

Readers use these tables, and the page of robot files is made from them. Elements that change dynamics and are refused
are in `robots.formats.effects`. An element in no table gives a warning, as it may be misspelt.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from robots.data_classes import dataclass
from robots.formats import effects
from robots.formats.effects import Effect
from robots.formats.xml_tree import Element, FormatError
from robots.parameter_errors import nearest

ROTORS = ("rotorInertia", "rotor_inertia", "motorInertia", "drake:rotor_inertia")
GEARS = ("mechanicalReduction", "gear_ratio", "drake:gear_ratio")


@dataclass(frozen=True)
class Words:
    """Children and attributes of an element, in words with spaces between: read, and `idle` ones without effect."""

    children: str = ""
    attributes: str = ""
    idle: str = ""
    idle_attributes: str = ""


Vocabulary = Mapping[str, Words]
"""Elements that a format may have, by tag, each with the words that it may hold."""

_AXIS = Words("xyz limit dynamics mimic use_parent_model_frame", "", "initial_position")
SDF: Vocabulary = {
    "sdf": Words("world model", "version", "actor light"),
    "world": Words(
        "model joint frame include",
        "name",
        "audio magnetic_field atmosphere gui physics scene light actor plugin road spherical_coordinates state "
        "population gravity wind",
    ),
    "include": Words("uri name pose static placement_frame", "merge", "plugin namespace model_state"),
    "model": Words(
        "link joint frame pose static model include",
        "name placement_frame",
        "self_collide allow_auto_disable plugin gripper enable_wind model_state",
        "canonical_link namespace",
    ),
    "frame": Words("pose", "name attached_to"),
    "pose": Words("", "relative_to frame rotation_format degrees"),
    "link": Words(
        "pose inertial",
        "name",
        "gravity enable_wind self_collide kinematic must_be_base_link velocity_decay collision visual sensor projector "
        "audio_sink audio_source battery light particle_emitter",
    ),
    "inertial": Words("mass pose inertia", "auto", "density auto_inertia_params fluid_added_mass"),
    "inertia": Words("ixx iyy izz ixy ixz iyz"),
    "joint": Words(
        "parent child pose axis axis2 thread_pitch screw_thread_pitch drake:rotor_inertia drake:gear_ratio",
        "name type",
        "physics sensor drake:controller_gains gearbox_ratio gearbox_reference_body",
    ),
    "axis": _AXIS,
    "axis2": _AXIS,
    "xyz": Words("", "expressed_in"),
    "limit": Words("lower upper effort velocity", "", "stiffness dissipation drake:acceleration"),
    "dynamics": Words("damping friction", "", "spring_reference spring_stiffness"),
    "mimic": Words("multiplier offset reference", "joint axis"),
}
"""Words of SDF 1.4 to 1.12. `idle` ones with an effect where they say something are refused there."""

URDF: Vocabulary = {
    "robot": Words(
        "link joint transmission gazebo loop_joint loop coupling",
        "name",
        "material ros2_control drake:diagonal_friction drake:collision_filter_group",
        "version",
    ),
    "link": Words("inertial", "name", "visual collision sensor contact self_collision_checking", "type"),
    "inertial": Words("origin mass inertia"),
    "origin": Words("", "xyz rpy quat_xyzw"),
    "mass": Words("", "value"),
    "inertia": Words("", "ixx iyy izz ixy ixz iyz"),
    "joint": Words(
        f"origin parent child axis limit dynamics mimic {' '.join(ROTORS)} {' '.join(GEARS)}",
        "name type",
        "calibration safety_controller property_limit drake:controller_gains",
        "independent",
    ),
    "parent": Words("", "link"),
    "child": Words("", "link"),
    "axis": Words("", "xyz"),
    "limit": Words("", "lower upper effort velocity", "", "acceleration deceleration jerk drake:acceleration"),
    "dynamics": Words("", "damping friction", "", "coulomb_window"),
    "mimic": Words("", "joint multiplier offset"),
    "loop_joint": Words("link1 link2 axis", "name type"),
    "link1": Words("", "link xyz rpy"),
    "link2": Words("", "link xyz rpy"),
    "loop": Words("predecessor successor axis", "name type"),
    "predecessor": Words("origin", "link"),
    "successor": Words("origin", "link"),
    "coupling": Words("predecessor successor ratio", "name"),
    "ratio": Words("", "value"),
    "gazebo": Words(
        "joint",
        "reference",
        "plugin sensor visual collision material mu1 mu2 mu kp kd minDepth min_depth maxContacts max_contacts maxVel "
        "max_vel maxSize fdir1 selfCollide self_collide laserRetro laser_retro intensity provideFeedback "
        "provide_feedback disableFixedJointLumping preserveFixedJoint stopKp stopKd stopCfm stopErp stop_kp stop_kd "
        "fudgeFactor fudge_factor cfmDamping implicitSpringDamper implicit_spring_damper initialJointPosition "
        "turnGravityOff gravity kinematic dampingFactor velocity_decay static springStiffness springReference "
        "canonicalBody",
    ),
}
"""Words of URDF, with the loops of Drake and Isaac Sim (`loop_joint`), of URDF+ (`loop`, `coupling`) and of Gazebo."""

_IDLE_SPACES = ("xmlns", "xml:")
LANGUAGES: Mapping[str, tuple[Vocabulary, tuple[Effect, ...]]] = {
    "SDF": (SDF, effects.SDF),
    "URDF": (URDF, effects.URDF),
}
"""Tables of the formats by their names: elements that are read or idle, and elements that are refused."""


def unread(root: Element, language: str) -> list[FormatError]:
    """Return elements and attributes of a file that are in no table, each once, in the order of its lines."""
    return sorted(_unread(root, language), key=lambda each: each.line)


def _unread(root: Element, language: str) -> Iterator[FormatError]:
    reported, stack = set[tuple[str, str]](), [(root, "", language)]
    while stack:
        element, place, language = stack.pop()
        vocabulary, table = LANGUAGES[language]
        refused = {effect.path.rpartition("/")[2] for effect in table}
        name = element.attributes.get("name", element.attributes.get("reference"))
        place = place if name is None else f"{element.tag} {name}"
        words = vocabulary.get(element.tag, Words())
        children, idle = words.children.split(), {*words.idle.split(), *refused}
        for child in reversed(element.children):
            if child.tag in children and child.tag in vocabulary:
                stack.append((child, place, "SDF" if element.tag == "gazebo" else language))
            elif child.tag not in children and child.tag not in idle and (element.tag, child.tag) not in reported:
                reported.add((element.tag, child.tag))
                yield _told(child.line, place, f"an element <{child.tag}>", child.tag, children)
        attributes = words.attributes.split()
        for key in element.attributes.keys() - {*attributes, *words.idle_attributes.split()}:
            if not key.startswith(_IDLE_SPACES) and (element.tag, key) not in reported:
                reported.add((element.tag, key))
                yield _told(element.line, place, f"an attribute {key} of <{element.tag}>", key, attributes)


def _told(line: int, place: str, got: str, name: str, names: Collection[str]) -> FormatError:
    hint = nearest(name, names) if names else ""
    advice = f"{hint[:1].upper()}{hint[1:]}" if hint.startswith("did") else "It changes nothing, here and below."
    return FormatError(line, place, f"{got} that is not read", "known elements", advice)
