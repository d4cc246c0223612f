from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from robots import catalog
from storage import open_results
from tasks import inverse_kinematics

ROOT = Path(__file__).parents[3]


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_stiffness_of_a_hexapod_is_that_of_its_screws() -> None:
    study, robot = script("hexapod_stiffness"), catalog.build("hexapod_6rrrprr")
    home, step = np.array(robot.mechanism.platform.home.position), 1e-6
    # Lengths of the screws after a small step along each axis: what their springs see.
    place = robot.mechanism.limbs[0].index(robot.mechanism.limbs[0].actuated[0])
    lengths = [inverse_kinematics(robot, position=home + step * each).position[:, place] for each in (*np.eye(3), 0)]
    stretch = (np.array(lengths[:3]) - lengths[3]) / step
    stiff = np.linalg.eigvalsh(study.SCREW * stretch @ stretch.T)
    # A platform that may also turn is softer, never stiffer.
    assert 0.0 < study.stiffness(robot) <= stiff[0] * (1 + 1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pick_and_place", "hexapod_stiffness", "friction_share"])
def test_a_study_runs(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("plotly", reason="no plotly; install limbsweep[report] to test pages")
    study = script(name)
    study.main(tmp_path)
    assert (tmp_path / f"{name}.html").stat().st_size > 4_000_000
    assert len(list(tmp_path.glob(f"{name}_*.png"))) >= 2
    assert len(capsys.readouterr().out.splitlines()) >= 4
    if name == "friction_share":
        share = study.share(open_results(tmp_path / f"{name}.zarr")).values
        assert share.min() == 0.0
        assert share.max() > 0.02
