from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.campaigns.independent import BODY, KR300, PANDA, by_pinocchio, chain
from benchmarks.campaigns.recordings import EXAMPLES
from pipeline.robot_files.reader import read_robot
from robots import catalog
from robots.model import Robot
from tasks.dynamics.regressor import regressor


@pytest.mark.parametrize(
    ("robot", "urdf"),
    [(catalog.build("panda"), chain("joint_", PANDA)), (None, chain("a", KR300))],
    ids=["panda", "kr300"],
)
def test_arms_of_the_script_are_those_of_the_descriptions(robot: Robot | None, urdf: str, tmp_path: Path) -> None:
    pytest.importorskip("pinocchio")
    robot = robot or read_robot(EXAMPLES / "kr300_robot.yaml")
    (tmp_path / "arm.urdf").write_text(urdf)
    q, qd, qdd = np.random.default_rng(1).normal(size=(3, 5, len(robot.mechanism.actuators)))
    own = regressor(robot, q=q, qd=qd, qdd=qdd)
    bodies = [k for k, column in enumerate(own.columns) if column.parameter in BODY]
    names = [f"link_{link + 1}.{parameter}" for link in range(q.shape[1]) for parameter in BODY]
    order = [names.index(own.columns[k].name) for k in bodies]
    columns = by_pinocchio(tmp_path / "arm.urdf", q, qd, qdd)
    np.testing.assert_allclose(own.matrix[:, :, bodies], columns[:, :, order], atol=1e-10)
