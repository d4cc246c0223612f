"""Each element and attribute of the schemas of SDF and URDF is read, refused, or without effect; no other is silent."""

from __future__ import annotations

import pytest

from robots.formats import effects, elements, sdf, urdf
from robots.formats.tree import Tree
from robots.formats.xml_tree import ImportedError, parse
from tests.robots.formats.test_sdf import ARM, file

SDF_SCHEMA = {
    "sdf": "@version world model actor light",
    "world": "@name audio wind include gravity magnetic_field atmosphere gui physics scene light frame joint model "
    "actor plugin road spherical_coordinates state population",
    "include": "@merge uri name namespace pose placement_frame static plugin model_state",
    "model": "@name @namespace @canonical_link @placement_frame model_state static self_collide "
    "allow_auto_disable frame pose link joint plugin gripper include model enable_wind",
    "link": "@name gravity enable_wind self_collide kinematic must_be_base_link velocity_decay pose inertial collision "
    "visual sensor projector audio_sink audio_source battery light particle_emitter",
    "inertial": "@auto mass density auto_inertia_params pose inertia fluid_added_mass",
    "inertia": "ixx ixy ixz iyy iyz izz",
    "frame": "@name @attached_to pose",
    "pose": "@frame @relative_to @rotation_format @degrees",
    "joint": "@name @type parent child thread_pitch screw_thread_pitch gearbox_ratio gearbox_reference_body axis "
    "axis2 physics pose sensor",
    "axis": "xyz initial_position use_parent_model_frame dynamics limit mimic",
    "xyz": "@expressed_in",
    "dynamics": "damping friction spring_reference spring_stiffness",
    "limit": "lower upper effort velocity stiffness dissipation",
    "mimic": "@joint @axis multiplier offset reference",
}
"""Of SDF 1.4 to 1.12, without the parts of what is idle; `@` before attributes. The gears of a gearbox go with its
kind, and <frame> of links and joints, of 1.5 and 1.6, is told."""

URDF_SCHEMA = {
    "robot": "@name @version link joint material transmission gazebo",
    "link": "@name @type inertial visual collision",
    "inertial": "origin mass inertia",
    "origin": "@xyz @rpy @quat_xyzw",
    "mass": "@value",
    "inertia": "@ixx @iyy @izz @ixy @ixz @iyz",
    "joint": "@name @type origin parent child axis calibration dynamics limit safety_controller mimic",
    "axis": "@xyz",
    "parent": "@link",
    "child": "@link",
    "limit": "@lower @upper @effort @velocity @acceleration @deceleration @jerk",
    "dynamics": "@damping @friction",
    "mimic": "@joint @multiplier @offset",
}


@pytest.mark.parametrize("language", elements.LANGUAGES)
def test_each_element_of_a_schema_is_in_a_table(language: str) -> None:
    vocabulary, table = elements.LANGUAGES[language]
    refused = {tuple(effect.path.split("/")[-2:]) for effect in table}
    schema = SDF_SCHEMA if language == "SDF" else URDF_SCHEMA
    for outer, names in schema.items():
        words = vocabulary[outer]
        known = {*words.children.split(), *words.idle.split()}
        known |= {f"@{name}" for name in (*words.attributes.split(), *words.idle_attributes.split())}
        for name in names.split():
            assert name in known or (outer, name) in refused, (outer, name)


def test_no_word_is_both_read_and_idle() -> None:
    for vocabulary, _ in elements.LANGUAGES.values():
        for words in vocabulary.values():
            assert not {*words.children.split()} & {*words.idle.split()}
            assert not {*words.attributes.split()} & {*words.idle_attributes.split()}


def says(tree: Tree) -> str:
    """Return the parts of a tree that dynamics and a robot file depend on."""
    return repr((tree.links, tree.bodies, tree.couplings, tree.ratings, tree.loops))


PLACES = {
    "model": '<model name="arm">',
    "link": '<link name="upper">',
    "inertial": "<inertial>",
    "joint": '<joint name="elbow" type="revolute">',
    "axis": "<xyz>1 0 0</xyz>",
    "dynamics": "<dynamics>",
    "limit": "<limit>",
}
IDLE = [
    pytest.param(outer, name, id=f"{outer}/{name}")
    for outer, words in elements.SDF.items()
    for name in words.idle.split()
    if outer in PLACES
]


@pytest.mark.parametrize(("outer", "name"), IDLE)
def test_what_is_idle_in_sdf_changes_nothing_or_is_refused(outer: str, name: str) -> None:
    """Check idle elements: silent with neutral values, refused with others if a table of effects has them."""
    whole = file(*ARM).decode()
    start = PLACES[outer]
    assert start in whole
    plain = sdf.read_tree(whole.encode())
    for text in ("0", "1", "true", "false"):
        data = whole.replace(start, f"{start}<{name}>{text}</{name}>", 1).encode()
        if found := [*effects.found(parse(data), effects.SDF)]:
            with pytest.raises(ImportedError, match=found[0][1].got):
                sdf.read_tree(data)
        else:
            changed = sdf.read_tree(data)
            assert says(changed) == says(plain)
            assert str(changed.warnings) == str(plain.warnings)


READ = {
    "pose": ("<pose>0.1 0.2 0.5 0.3 -0.4 0.5</pose>", "<pose>0.1 0.2 0.5 0.3 -0.4 0.6</pose>"),
    "rotation_format": (
        "<pose>0.1 0.2 0.5 0.3 -0.4 0.5</pose>",
        '<pose rotation_format="quat_xyzw">0.1 0.2 0.5 0 0 1 0</pose>',
    ),
    "degrees": ("<pose>0.1 0.2 0.5", '<pose degrees="true">0.1 0.2 0.5'),
    "relative_to": ("<pose>0.1 0.2 0.5", '<pose relative_to="fore">0.1 0.2 0.5'),
    "mass": ("<mass>3.0", "<mass>3.1"),
    "inertia": ("<ixx>0.02", "<ixx>0.021"),
    "xyz": ("<xyz>1 0 0", "<xyz>0 1 0"),
    "expressed_in": ("<xyz>1 0 0", '<xyz expressed_in="__model__">1 0 0'),
    "kind": ('name="elbow" type="revolute"', 'name="elbow" type="prismatic"'),
    "limit": ("<upper>1</upper>", "<upper>1.5</upper>"),
    "effort": ("<effort>40", "<effort>41"),
    "damping": ("<damping>0.3", "<damping>0.4"),
    "friction": ("<damping>0.3</damping>", "<damping>0.3</damping><friction>1</friction>"),
    "mimic": ("<xyz>1 0 0</xyz>", '<xyz>1 0 0</xyz><mimic joint="shoulder"><multiplier>2</multiplier></mimic>'),
    "rotor": (
        'name="elbow" type="revolute">',
        'name="elbow" type="revolute"><drake:rotor_inertia>1e-3</drake:rotor_inertia>',
    ),
    "use_parent_model_frame": ("<axis><xyz>1", "<axis><use_parent_model_frame>1</use_parent_model_frame><xyz>1"),
}


@pytest.mark.parametrize("name", READ)
def test_what_is_read_in_sdf_changes_the_tree(name: str) -> None:
    whole = file(*ARM).decode()
    before, after = READ[name]
    assert before in whole
    assert says(sdf.read_tree(whole.replace(before, after).encode())) != says(sdf.read_tree(whole.encode()))


def test_a_misspelt_element_or_attribute_is_told_with_its_neighbour() -> None:
    text = file(*ARM).replace(b"<damping>", b"<dampng>").replace(b"</damping>", b"</dampng>")
    told = [
        str(each) for each in sdf.read_tree(text.replace(b'<model name="arm">', b'<model name="arm" pse="1">')).warnings
    ]
    assert any("<dampng> that is not read" in each and "Did you mean 'damping'" in each for each in told)
    assert any("an attribute pse of <model> that is not read" in each for each in told)


BODY = '<inertial><origin xyz="0.1 0.2 0" rpy="0.1 0 0"/><mass value="1"/>' + (
    '<inertia ixx="0.2" iyy="0.3" izz="0.4" ixy="0" ixz="0" iyz="0"/></inertial>'
)
JOINT = (
    '<joint name="{0}" type="revolute"><origin xyz="0 0 1" rpy="0.3 0.2 0.1"/><parent link="{1}"/><child link="{2}"/>'
    + ('<axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="5" velocity="2"/>{3}</joint>')
)
CHAIN = (
    f'<robot name="r"><link name="a"/><link name="b">{BODY}</link><link name="c">{BODY}</link>'
    + JOINT.format("j", "a", "b", "")
    + JOINT.format("k", "b", "c", "")
    + "</robot>"
)


def test_a_quaternion_of_urdf_is_read() -> None:
    """Check the quaternion of an angle about z: sine and cosine of its half."""
    angles = CHAIN.replace('rpy="0.3 0.2 0.1"', 'rpy="0 0 0.8"', 1)
    quaternion = CHAIN.replace('rpy="0.3 0.2 0.1"', 'quat_xyzw="0 0 0.38941834230865 0.92106099400289"', 1)
    rotations = [urdf.read_tree(text.encode()).links[0].placement.rotation for text in (angles, quaternion)]
    assert rotations[0] == tuple(pytest.approx(row, abs=1e-14) for row in rotations[1])
    with pytest.raises(ImportedError, match="rpy and quat_xyzw; expected one of them"):
        urdf.read_tree(CHAIN.replace('rpy="0.3', 'quat_xyzw="0 0 0 1" rpy="0.3', 1).encode())
    with pytest.raises(ImportedError, match="quat_xyzw 0 0 0 0"):
        urdf.read_tree(quaternion.replace("0 0 0.38941834230865 0.92106099400289", "0 0 0 0").encode())
