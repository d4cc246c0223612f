"""Robots: of the catalogue (`build`), of robot files (`read`), of URDF files (`load`)."""

from robots.loading import offered_by_stub
from robots.model import Robot as _Robot

__getattr__, __dir__, __all__ = offered_by_stub(__name__, __file__)


def _html(robot: _Robot) -> str:
    from applications.report.accessor import robot_html

    return robot_html(robot)


# Set here, because the module that draws a robot is far above the robot's own module.
_Robot._repr_html_ = _html  # type: ignore[attr-defined]
