# ruff: noqa: E501 - a row of a table is a line
"""Rows of section C on loads on the bodies of a robot, and on its base, in a sweep file."""

from __future__ import annotations

from tests.bad_inputs.rows import GOOD, Row


def loaded(name: str, text: str, *said: str, files: dict[str, str | bytes] | None = None) -> Row:
    """A sweep with a load called `a`."""
    return Row(name, said, GOOD.replace("time:", f"loads: {{a: {text}}}\ntime:"), files or {})


def based(name: str, text: str, *said: str, files: dict[str, str | bytes] | None = None) -> Row:
    """A sweep on a base that moves."""
    return Row(name, said, GOOD.replace("time:", f"base: {text}\ntime:"), files or {})


ARM = """\
limbsweep: 1
robot: planar_3r
friction: {law: viscous, joints: passive, parameters: {viscous: 1}}
trajectories: {swing: {kind: harmonic, amplitude: 0.1}}
time: {stop: 1.0, step: 0.1}
metrics: [peak_force]
"""

ROWS = (
    loaded("C110 no kind", "{body: platform, force: [0, 0, 1]}", "loads.a: got no key 'kind'; expected 'kind', which is required"),
    loaded("C110 no body", "{kind: spring, stiffness: 1}", "loads.a: got a load without body; expected body that it acts on"),
    loaded("C110 a drive of a platform", "{kind: elastic_drive, actuators: all, stiffness: 1}", "loads.a.actuators: got drives of a robot with a platform; expected drives of a chain"),
    loaded("C110 a spring in no joint", "{kind: joint_spring, joint: knee, stiffness: 1}", "loads.a.joint: got 'knee'; expected a joint of a link of the robot"),
    loaded("C110 a rotor with three moments", "{kind: elastic_drive, actuators: all, stiffness: 1, inertia: [1, 1, 1]}", "loads.a.inertia: got another number of them; expected a number or an expression"),
    loaded("C111 an unknown kind", "{kind: sprng, body: arm}", "loads.a.kind: got 'sprng'; expected one of", "Did you mean 'spring'?"),
    loaded("C112 an unknown body", "{kind: wrench, body: armm, force: [0, 0, 1]}", "loads.a.body: got 'armm'; expected a link or the platform of the robot", "Did you mean"),
    loaded("C113 nothing", "{kind: wrench, body: arm}", "loads.a: got neither force, moment nor a table; expected one of them"),
    loaded("C114 two numbers", "{kind: wrench, body: arm, force: [0, 1]}", "loads.a.force: got [0, 1]; expected at least 3 entries"),
    loaded("C115 no number", "{kind: wrench, body: arm, force: [0, 0, true]}", "expected a number, or the text of an expression"),
    loaded("C116 an expression", "{kind: wrench, body: arm, force: [0, 0, 2 *]}", "loads.a.force[2]: got the end; expected a number"),
    loaded("C117 an unknown name", "{kind: wrench, body: arm, force: [0, 0, 2 * s]}", "loads.a.force[2]: got the name 's'; expected the time t, pi, parameters"),
    loaded("C118 a key of another kind", "{kind: spring, body: arm, stiffness: 1, force: [0, 0, 1]}", "loads.a.force: got force of a spring; expected a key of this kind: kind, body, at, to, other"),
    loaded("C119 a spring without force", "{kind: spring, body: arm}", "loads.a: got a spring without force; expected stiffness, preload, damping or a table"),
    loaded("C120 stiffness below zero", "{kind: spring, body: arm, stiffness: -1}", "loads.a.stiffness: got -1.0; expected a number or an expression [N/m], not below 0"),
    loaded("C120 stiffness below zero in words", "{kind: spring, body: arm, stiffness: -2 * pi}", "loads.a.stiffness: got '-2 * pi'; expected a number or an expression [N/m], not below 0"),
    loaded("C121 no mass", "{kind: object, body: arm}", "loads.a: got an object without mass; expected mass [kg]"),
    loaded("C122 released before it is picked", "{kind: object, body: arm, mass: 1, from: 0.5, until: 0.2}", "loads.a.until: got 0.2; expected a time after from, 0.5 s"),
    loaded("C123 axes of a platform", "{kind: wrench, body: platform, force: [0, 0, 1], axes: link}", "loads.a.axes: got 'link'; expected 'world' or 'platform' for a platform"),
    loaded("C124 axes of a link", "{kind: wrench, body: arm, force: [0, 0, 1], axes: platform}", "loads.a.axes: got 'platform'; expected 'world' or 'link' for a link"),
    loaded("C125 a table that there is not", "{kind: wrench, body: arm, file: p.csv}", "p.csv: got no such file; expected an existing file"),
    loaded("C126 other columns", "{kind: wrench, body: arm, file: p.csv}", "p.csv:1", "t,mx,my,mz,fx,fy,fz", files={"p.csv": "t,x,y,z\n0,0,0,0\n1,0,0,0\n"}),
    loaded("C127 a table and a force", "{kind: wrench, body: arm, force: [0, 0, 1], file: p.csv}", "loads.a: got force or moment beside a table; expected one of both", files={"p.csv": "t,mx,my,mz,fx,fy,fz\n0,0,0,0,0,0,0\n1,0,0,0,0,0,1\n"}),
    loaded("C128 a scale of nothing", "{kind: wrench, body: arm, force: [0, 0, 1], scale: 2}", "loads.a.scale: got a scale without a table; expected none"),
    Row("C129 a name of a parameter", ("loads.payload: got the parameter 'payload_mass', which there is; expected a new name for the load",), GOOD.replace("time:", "loads: {payload: {kind: object, body: platform, mass: 1}}\ntime:")),
    Row("C130 a parameter of no load", ("parameters.a_stifness: got an unknown parameter", "a_stiffness"), GOOD.replace("density: 2700", "a_stifness: 1").replace("time:", "loads: {a: {kind: spring, body: arm, stiffness: 1}}\ntime:")),
    based("C132 no kind of base", "{radius: 1}", "base: got no kind; expected kind, the name of a motion"),
    based("C133 a base in words", "afloat", "base: got 'afloat'; expected a mapping of names to values"),
    based("C134 a base on a grid", "{kind: workspace}", "base.kind: got 'workspace'; expected a motion over time"),
    based("C135 a load on the base", "{kind: circle, load: {force: [0, 0, 1]}}", "base.load: got a load on the base; expected none"),
    based("C136 an unknown key", "{kind: circle, radios: 1}", "base.radios: got an unknown key", "Did you mean 'radius'?"),
    based("C137 points that end early", "{kind: waypoints, file: p.csv}", "base.file: got points until 0.5 s; expected points until 1.0 s", files={"p.csv": "t,x,y,z\n0,0,0,0\n0.5,0,0,1\n"}),
    Row("C138 energies on a base that moves", ("outputs[0]: got 'kinetic_energy'; expected one of the outputs of a robot whose base moves",), GOOD.replace("time:", "base: {kind: circle}\ntime:").replace("[actuator_force]", "[kinetic_energy]")),
    Row("C139 a table that ends early", ("loads.a.file: got points until 0.5 s; expected points until 1.0 s",), GOOD.replace("time:", "loads: {a: {kind: wrench, body: arm, file: p.csv}}\ntime:"), {"p.csv": "t,mx,my,mz,fx,fy,fz\n0,0,0,0,0,0,0\n0.5,0,0,0,0,0,1\n"}),
    Row("C139 reactions by actuators", ("criteria.stiffness.reactions: got elastic actuators alone; expected elastic joints or links wherever they share loads",), GOOD.replace("time:", "criteria: {stiffness: {actuators: {all: 1.0e+4}, reactions: true}}\ntime:")),
    Row("C140 an output of no joint", ("outputs[0].joint_reaction[0]: got 'elbow'; expected a joint of the robot",), GOOD.replace("[actuator_force]", "[joint_reaction: [elbow]]")),
    Row("C141 an output without joints", ("outputs[0]", "expected a name, or a name with a list of joints or links"), GOOD.replace("[actuator_force]", "[joint_reaction: []]")),
    Row("C142 gravity swept on a base that moves", ("design.grid.gravity_x: got a swept gravity beside base; expected gravity that is the same for all designs",), GOOD.replace("upper_arm: {start", "gravity_x: [0, 1]\n    upper_arm: {start").replace("time:", "base: {kind: circle}\ntime:")),
    Row("C143 friction in no joint", ("friction.joints: got passive of a robot without such joints that have one variable; expected joints that friction can be in",), ARM),
    Row("C143 limits of no joint", ("limits.joints.passive: got 'passive'; expected joints of the robot. No joint of one variable is passive; leave it out",), ARM.replace("friction: {law: viscous, joints: passive, parameters: {viscous: 1}}", "limits: {joints: {passive: {velocity: 1}}}")),
    Row("C131 a name with a dash", ("loads.a-b: got 'a-b'",), GOOD.replace("time:", "loads: {a-b: {kind: spring, body: arm, stiffness: 1}}\ntime:")),
)  # fmt: skip
