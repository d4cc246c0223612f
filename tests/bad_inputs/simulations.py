"""Section S: simulations in a sweep file."""

from __future__ import annotations

from tests.bad_inputs.rows import CHECK, Row

GOOD = """\
limbsweep: 1
robot: planar_3r
trajectories: {move: {kind: quintic, end: 0.1, duration: 0.1}}
simulation:
  controller: {kind: pd, parameters: {kd: 5.0}}
  gains: {grid: {kp: [100.0, 200.0]}}
time: {stop: 0.1, step: 0.01}
outputs: [actuator_force]
metrics: [peak_tracking_error]
"""
UNSTABLE = GOOD.replace("kd: 5.0", "kd: 5.0e+4")
STIFF = GOOD.replace("[100.0, 200.0]", "[1.0e+6]").replace("kd: 5.0", "kd: 1.0e+3")
FORCES = """\
limbsweep: 1
robot: planar_3r
simulation: {forces: {push: {values: [1.0, 0.0, 0.0]}}}
time: {stop: 0.1, step: 0.01}
outputs: [joint_position]
"""
PROFILE = FORCES.replace("{values: [1.0, 0.0, 0.0]}", "{file: push.csv}")


def changed(name: str, old: str, new: str, *said: str, base: str = GOOD, **more: str) -> Row:
    assert old in base, old
    files = {key.replace("_csv", ".csv"): text for key, text in more.items()}
    return Row(name, said, base.replace(old, new, 1), files)


ROWS: tuple[Row, ...] = (
    changed(
        "S01 kind",
        "kind: pd,",
        "kind: pdd,",
        "simulation.controller.kind: got 'pdd'; expected a kind of controller",
        "'pd'?",
    ),
    changed(
        "S02 space",
        "kind: pd,",
        "kind: pd, space: task,",
        "simulation.controller.space: got 'task'; expected actuator or joint for pd of a chain",
    ),
    changed(
        "S02 model",
        "kind: pd,",
        "kind: computed_torque, space: actuator,",
        "controller.space: got 'actuator'; expected joint for computed_torque",
    ),
    changed("S03 gain", "kp:", "kpp:", "simulation.gains.grid.kpp: got an unknown parameter", "'kp'?"),
    changed("S03 of a kind", "kp:", "ki:", "simulation.gains.grid.ki: got an unknown parameter"),
    changed(
        "S03 twice",
        "kd: 5.0",
        "kd: 5.0, kp: 3.0",
        "simulation.gains.grid.kp: got a swept parameter that is also fixed at 3.0",
    ),
    changed(
        "S03 none",
        "  gains: {grid: {kp: [100.0, 200.0]}}\n",
        "",
        "simulation.controller: got no kp; expected kp of pd [N m/rad]",
    ),
    changed(
        "S03 negative",
        "kd: 5.0",
        "kd: -5.0",
        "simulation.controller.parameters.kd: got -5.0; expected a number of at least 0 [N m s/rad]",
    ),
    changed(
        "S04 step",
        "simulation:\n",
        "simulation:\n  step: 0.02\n",
        "simulation.step: got 0.02; expected at most the step of time, 0.01",
    ),
    changed(
        "S04 part",
        "simulation:\n",
        "simulation:\n  step: 0.003\n",
        "simulation.step: got 0.003; expected a whole part of the step of time, 0.01",
        "Take 0.003333333333.",
    ),
    changed(
        "S04 zero",
        "simulation:\n",
        "simulation:\n  step: 0.0\n",
        "simulation.step: got 0.0; expected a number of at least 1e-09",
    ),
    changed(
        "S04 method", "simulation:\n", "simulation:\n  method: rk5\n", "simulation.method: got 'rk5'; expected one of"
    ),
    changed(
        "S05 sample time",
        "kd: 5.0",
        "kd: 5.0, sample_time: 0.015",
        "simulation.controller.parameters.sample_time: got 0.015; expected a whole number of steps of 0.01 s",
    ),
    changed(
        "S05 delay",
        "{grid: {kp: [100.0, 200.0]}}",
        "{grid: {kp: [100.0], delay: [0.0, 0.004]}}",
        "simulation.gains: got delay of 0.004; expected a whole number of steps of 0.01 s",
    ),
    changed(
        "S06 contradiction",
        "  gains:",
        "  forces: {push: {values: 1.0}}\n  gains:",
        "simulation.forces: got forces beside a controller; expected one of the two",
    ),
    changed(
        "S06 gains",
        "{push: {values: [1.0, 0.0, 0.0]}}",
        "{push: {values: 1.0}}, gains: {grid: {kp: [1.0]}}",
        "simulation.gains: got gains without a controller",
        base=FORCES,
    ),
    changed(
        "S06 trajectories",
        "time:",
        "trajectories: {move: {kind: quintic}}\ntime:",
        "trajectories: got trajectories beside forces; expected a controller that follows them, or none",
        base=FORCES,
    ),
    changed(
        "S06 none",
        "trajectories: {move: {kind: quintic, end: 0.1, duration: 0.1}}\n",
        "",
        "got no key 'trajectories'; expected 'trajectories', which is required",
    ),
    changed(
        "S06 limits",
        "[peak_tracking_error]",
        "[limit_margin]",
        "metrics[0]: got 'limit_margin'; expected a metric of limits that the file sets (joints: position)",
    ),
    changed(
        "S06 sensors",
        "time:",
        "measurement: {position_noise: 1.0e-4}\ntime:",
        "measurement: got noise without seed; expected a seed at the top of the file",
    ),
    changed(
        "S06 criteria",
        "time:",
        "criteria: {accuracy: {resolution: {all: 1.0e-4}}}\ntime:",
        "criteria: got criteria of a chain; expected a robot with a platform",
    ),
    changed(
        "S06 path",
        "[peak_tracking_error]",
        "[cycle_time]",
        "metrics[0]: got 'cycle_time'; expected a variable that this simulation has",
        "in a simulation the forces decide how fast it is",
    ),
    changed(
        "S06 iteration",
        "[peak_tracking_error]",
        "[friction_residual]",
        "metrics[0]: got 'friction_residual'; expected a variable that this simulation has",
        "The integration settles friction in every step",
    ),
    changed(
        "S06 volume",
        "[peak_tracking_error]",
        "[usable_volume]",
        "metrics[0]: got 'usable_volume'; expected a variable that this simulation has",
        "no motion in time",
    ),
    changed(
        "S13 loads",
        "trajectories: {move: {kind: quintic, end: 0.1, duration: 0.1}}",
        "trajectories:\n  a: {kind: quintic, load: {force: [0, 0, 1]}}\n"
        "  b: {kind: quintic, load: {force: [0, 0, 1], axes: platform}}",
        "trajectories.b.load: got loads in axes of the world and of the platform; expected one of the two",
        base=GOOD.replace("planar_3r", "five_bar"),
    ),
    changed(
        "S14 tolerance",
        "simulation:\n",
        "simulation:\n  tolerance: -1.0e-6\n",
        "simulation.tolerance: got -1e-06; expected a number of at least 1e-14",
    ),
    changed(
        "S14 substeps",
        "[peak_tracking_error]",
        "[substeps]",
        "metrics[0]: got 'substeps'; expected a variable that this simulation has",
        "add tolerance",
    ),
    changed("S06 precision", "time:", "precision: single\ntime:", "precision: got 'single'; expected double"),
    changed(
        "S07 size",
        "[1.0, 0.0, 0.0]",
        "[1.0, 0.0]",
        "simulation.forces.push.values: got [1.0, 0.0]; expected a number for each actuator",
        base=FORCES,
    ),
    changed(
        "S07 neither",
        "{values: [1.0, 0.0, 0.0]}",
        "{between: steps}",
        "simulation.forces.push: got neither values nor file; expected one of values and file",
        base=FORCES,
    ),
    changed(
        "S07 motors",
        "[1.0, 0.0, 0.0]",
        "1.0, of: current",
        "simulation.forces.push.of: got 'current'; expected force",
        base=FORCES,
    ),
    changed(
        "S07 saturation",
        "simulation: {",
        "simulation: {saturation: true, ",
        "simulation.saturation: got true; expected a robot with motors",
        base=FORCES,
    ),
    changed(
        "S07 saturation by nothing",
        "robot: planar_3r\nsimulation: {forces: {push: {values: [1.0, 0.0, 0.0]}}}",
        "robot: irb6\nsimulation: {saturation: true, forces: {push: {values: 1.0}}}",
        "simulation.saturation: got true; expected limits of force, current or voltage that the file sets",
        base=FORCES,
    ),
    changed(
        "S07 columns",
        "push",
        "push",
        "push.csv:1:1: got 't,a'; expected the header t,",
        base=PROFILE,
        push_csv="t,a\n0,1\n1,2\n",
    ),
    changed("S07 file", "push", "push", "push.csv: got no such file; expected an existing file", base=PROFILE),
    changed(
        "S08 reference",
        "outputs: [joint_position]",
        "outputs: [tracking_error]",
        "outputs[0]: got 'tracking_error'; expected a variable that this simulation has",
        "There is no controller",
        base=FORCES,
    ),
    changed(
        "S08 platform",
        "[actuator_force]",
        "[platform_position]",
        "outputs[0]: got 'platform_position'; expected a variable that this robot has",
        "It has no platform",
    ),
    changed(
        "S08 unknown",
        "[actuator_force]",
        "[joint_reactions]",
        "outputs[0]: got 'joint_reactions'; expected one of the outputs",
        "'joint_reaction'?",
    ),
    changed(
        "S09 state",
        "  gains:",
        "  state: {grid: {x: [0.1]}}\n  gains:",
        "simulation.state.grid.x: got an unknown parameter",
    ),
    changed("S10 key", "kind: pd,", "kinds: pd,", "simulation.controller.kinds: got an unknown key", "'kind'?"),
    changed(
        "S12 width",
        "trajectories:",
        "friction: {law: coulomb_viscous, parameters: {coulomb: 1.0, width: 0.0}}\ntrajectories:",
        "friction: got width of 0; expected a width above 0 in a simulation",
    ),
    changed(
        "S07 time",
        "push",
        "push",
        "push.csv:3:1 t: got 0.0; expected a time later than 0.0 of the row before",
        base=PROFILE,
        push_csv="t,joint_1,joint_2,joint_3\n0,1,0,0\n0,2,0,0\n",
    ),
    Row("S11 too long a step", ("DIVERGED", "use a smaller step"), STIFF, command=CHECK, status=0),
    Row("S11 unstable", ("DIVERGED", "lower the gains"), UNSTABLE, command=CHECK, status=0),
)
