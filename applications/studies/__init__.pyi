from applications.studies.bearings import RollingBearing, bearing_life
from applications.studies.cases import by_cases
from applications.studies.columns import column, feasible, objective, value_of
from applications.studies.optimisation import optimise
from applications.studies.pareto import front, layers
from applications.studies.populations.asking import SearchSettings
from applications.studies.populations.methods import ask_and_tell, hypervolume
from applications.studies.populations.search import search, search_families
from applications.studies.populations.space import FamilySpace
from applications.studies.problem import DesignProblem
from applications.studies.ranking import rank
from applications.studies.refinement import refine
from applications.studies.screening import derivative_measures, effects, morris, morris_designs, tolerance_effect
from applications.studies.sensitivity import of_saltelli_store, saltelli, sobol
from applications.studies.shares import from_samples
from applications.studies.space import DesignSpace
from applications.studies.surrogate import Surrogate, surrogate
from applications.studies.uncertainty import uncertainty
from applications.studies.workspaces.workspace import Workspace, workspace

__all__ = [
    "DesignProblem",
    "DesignSpace",
    "FamilySpace",
    "RollingBearing",
    "SearchSettings",
    "Surrogate",
    "Workspace",
    "ask_and_tell",
    "bearing_life",
    "by_cases",
    "column",
    "derivative_measures",
    "effects",
    "feasible",
    "from_samples",
    "front",
    "hypervolume",
    "layers",
    "morris",
    "morris_designs",
    "objective",
    "of_saltelli_store",
    "optimise",
    "rank",
    "refine",
    "saltelli",
    "search",
    "search_families",
    "sobol",
    "surrogate",
    "tolerance_effect",
    "uncertainty",
    "value_of",
    "workspace",
]
