from __future__ import annotations

from pipeline.sweep.model import Sweep

TEXT = """\
limbsweep: 1
{robot}robots:
  delta_3rr2rrr:
    parameters: {{density: 5000}}
    design: {{grid: {{upper_arm: {{values: [0.2, 0.3]}}}}}}
trajectories: {{circle: {{kind: circle, radius: 0.05}}}}
time: {{stop: 1.0, step: 0.1}}
metrics: [peak_force]
"""


def test_one_robot_under_robots_has_its_own_sections() -> None:
    alone = Sweep.from_text(TEXT.format(robot=""))
    chosen = Sweep.from_text(TEXT.format(robot="robot: delta_3rr2rrr\n"))
    assert alone.fixed == {"density": 5000.0}
    assert alone.design.size == 2
    assert alone.fingerprint == chosen.fingerprint
