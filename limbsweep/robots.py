"""Robots: of the catalogue (`build`), of robot files (`read`), of URDF files (`load`)."""

from typing import TYPE_CHECKING

from robots.loading import on_first_use
from robots.model import Robot as _Robot

if TYPE_CHECKING:
    from pipeline.robot_files.importing import load, read, with_redundancy, write
    from robots import catalog
    from robots.catalog import FAMILIES, build, family
    from robots.coupled import as_chain
    from robots.criteria.elasticity import Beam, Elasticity, LinkCompliance
    from robots.criteria.parts import Capsule, Capsules, Clearances, Errors, JointClearance
    from robots.formats.branch import on_branch
    from robots.loads.declared import (
        BushingLoad,
        ElasticDrive,
        JointSpringLoad,
        ObjectLoad,
        SpringLoad,
        WrenchLoad,
    )
    from robots.loads.family import at_time, with_loads
    from robots.loads.motors import with_motor_conditions
    from robots.loads.warming import with_warm_links
    from robots.model import Family, Robot

__all__ = [
    "FAMILIES",
    "Beam",
    "BushingLoad",
    "Capsule",
    "Capsules",
    "Clearances",
    "ElasticDrive",
    "Elasticity",
    "Errors",
    "Family",
    "JointClearance",
    "JointSpringLoad",
    "LinkCompliance",
    "ObjectLoad",
    "Robot",
    "SpringLoad",
    "WrenchLoad",
    "as_chain",
    "at_time",
    "build",
    "catalog",
    "family",
    "load",
    "on_branch",
    "read",
    "with_loads",
    "with_motor_conditions",
    "with_redundancy",
    "with_warm_links",
    "write",
]

_HOMES = {
    "Beam": "robots.criteria.elasticity",
    "BushingLoad": "robots.loads.declared",
    "Capsule": "robots.criteria.parts",
    "Capsules": "robots.criteria.parts",
    "Clearances": "robots.criteria.parts",
    "ElasticDrive": "robots.loads.declared",
    "Elasticity": "robots.criteria.elasticity",
    "Errors": "robots.criteria.parts",
    "FAMILIES": "robots.catalog",
    "Family": "robots.model",
    "JointClearance": "robots.criteria.parts",
    "JointSpringLoad": "robots.loads.declared",
    "LinkCompliance": "robots.criteria.elasticity",
    "ObjectLoad": "robots.loads.declared",
    "Robot": "robots.model",
    "SpringLoad": "robots.loads.declared",
    "WrenchLoad": "robots.loads.declared",
    "as_chain": "robots.coupled",
    "at_time": "robots.loads.family",
    "build": "robots.catalog",
    "catalog": "robots.catalog:",
    "family": "robots.catalog",
    "load": "pipeline.robot_files.importing",
    "on_branch": "robots.formats.branch",
    "read": "pipeline.robot_files.importing",
    "with_loads": "robots.loads.family",
    "with_motor_conditions": "robots.loads.motors",
    "with_redundancy": "pipeline.robot_files.importing",
    "with_warm_links": "robots.loads.warming",
    "write": "pipeline.robot_files.importing",
}

if not TYPE_CHECKING:  # for which there are no other names
    __getattr__, __dir__ = on_first_use(__name__, _HOMES)


def _html(robot: _Robot) -> str:
    from applications.report.accessor import robot_html

    return robot_html(robot)


# Here, because what draws a robot is far above what a robot is.
_Robot._repr_html_ = _html  # type: ignore[attr-defined]
