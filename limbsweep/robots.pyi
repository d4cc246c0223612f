import robots.catalog as catalog
from pipeline.robot_files.files import load, read, with_redundancy, write
from robots.catalog import FAMILIES, build, family
from robots.coupled import as_chain
from robots.criteria.elasticity import Beam, Elasticity, LinkCompliance
from robots.criteria.parts import Capsule, Capsules, Clearances, Errors, JointClearance
from robots.formats.branch import on_branch
from robots.loads.declared import BushingLoad, ElasticDrive, JointSpringLoad, ObjectLoad, SpringLoad, WrenchLoad
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
