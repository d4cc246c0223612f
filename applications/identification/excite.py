"""Optimise the random motions of a sweep for identification: a Dask task for each start.

An entry of the kind `random_fourier` describes the search: its limits are the limits of the motion, its motions the
starts.
"""

from __future__ import annotations

import functools
import math
import uuid
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from ruamel.yaml.comments import CommentedMap

from applications.identification.estimation.excitation import CRITERIA
from applications.identification.excite_job import ExcitationOptions, ExciteJob, SearchResult
from pipeline.cluster.arguments import ClusterLike
from pipeline.documents.outputs import write_text
from pipeline.execution.executor import reason, results
from pipeline.execution.graph import job_graph
from pipeline.execution.job_executor import job_executor
from pipeline.sweep.model import Sweep
from pipeline.sweep.rewriting import flowing, rewritten
from pipeline.sweep.trajectories.random_fourier import KIND, Entry, entries
from robots.arguments import check_arguments
from robots.data_classes import dataclass
from robots.parameter_errors import ParameterError, nearest

if TYPE_CHECKING:
    from robots.trajectories.trajectory import Trajectory

DEFAULT = ExcitationOptions()
MOST = 1_000_000
"""Steps of a search, and samples of a period."""
LIMITS = ("force", "stroke", "actuator_velocity", "actuator_acceleration")


@dataclass(frozen=True)
class Excited:
    """Results of the searches of each entry by the number of their start, and why others failed."""

    sweep: Sweep
    entries: Mapping[str, Entry]
    searches: dict[str, dict[int, SearchResult]]
    failed: dict[str, dict[int, str]]
    options: ExcitationOptions

    def best(self, name: str) -> tuple[int, SearchResult]:
        """Return the start with the least cost, the first of equal ones. Raises ParameterError if all have failed."""
        if not self.searches[name]:
            why = next(iter(self.failed[name].values()))
            raise ParameterError(f"trajectories.{name}: no start came to a motion within the limits; {why}")
        number = min(self.searches[name], key=lambda start: (self.searches[name][start].cost, start))
        return number, self.searches[name][number]

    def factor(self, name: str) -> float:
        """Compute the ratio of the criterion of the median of the random motions to that of the best."""
        random = [result.random for result in self.searches[name].values()]
        return math.exp(float(np.median(random)) - self.best(name)[1].cost)

    def rows(self) -> Iterator[tuple[str, str]]:
        """Summarise the results, as `limbsweep excite` prints them."""
        for name in self.entries:
            number, search = self.best(name)
            starts, failed = self.entries[name].count, len(self.failed[name])
            yield name, f"start {number} of {starts}" + (f", {failed} failed" if failed else "")
            yield "  condition", f"{search.condition:.4g}"
            yield (
                f"  {self.options.criterion}",
                f"{self.factor(name):.4g} times better than the median of random motions",
            )

    def trajectory(self, name: str) -> Trajectory:
        """Return the best motion of an entry."""
        return self.entries[name].trajectory(name, self.best(name)[1].series)

    def text(self) -> str:
        """Write the sweep file with the best motion in place of each entry."""
        trajectories = {name: flowing(spelled(self.trajectory(name))) for name in self.entries}
        starts = ", ".join(str(entry.count) for entry in self.entries.values())
        comment = f"Excitation: motions of the best {self.options.criterion} of {starts} starts."

        def change(data: CommentedMap) -> None:
            data["trajectories"].update(trajectories)

        return rewritten(self.sweep.text, change, comment)

    def save(self, path: Path, *, force: bool = False) -> Sweep:
        """Write the sweep file with the best motions, and read it.

        Raises InputError for a file that exists, unless by `force`, or cannot be written.
        """
        text = self.text()
        sweep = Sweep.from_text(text, str(path), path.parent)
        write_text(path, text, force=force)
        return sweep


@check_arguments
def excite(sweep: Sweep, options: ExcitationOptions = DEFAULT, *, cluster: ClusterLike = None) -> Excited:
    """Optimise every entry `random_fourier` of a sweep from all its starts; the same on any cluster.

    Raises ParameterError for a sweep without such entries, and for options that cannot be; ClusterLostError.

        >>> motion = {"kind": "random_fourier", "count": 2, "seed": 2, "period": 2.0, "position": 1.0}
        >>> sweep = ls.sweep("planar_3r", trajectories={"excite": motion}, time=(2.0, 0.05), outputs="actuator_force")
        >>> best = ls.excite(sweep, cluster=ls.ClusterConfig.of("synchronous"))
        >>> bool(best.factor("excite") >= 1.0)
        True
    """
    entries_of_sweep = _checked(Sweep.checked(sweep), options)
    searches: dict[str, dict[int, SearchResult]] = {name: {} for name in entries_of_sweep}
    failed: dict[str, dict[int, str]] = {name: {} for name in entries_of_sweep}
    run = uuid.uuid4().hex[:8]
    text = rewritten(sweep.text, functools.partial(_keep, names=entries_of_sweep), "Only the wanted motion.")
    jobs = (ExciteJob(text, name, k, options) for name, entry in entries_of_sweep.items() for k in range(entry.count))
    with job_executor(cluster, sweep) as executor:
        for result in results((job_graph(job, f"excite-{run}", job.name, job.number) for job in jobs), executor):
            _, name, number = result.key
            if isinstance(result.value, BaseException):
                failed[name][number] = reason(result.value)
            else:
                searches[name][number] = result.value
    return Excited(sweep, entries_of_sweep, searches, failed, options)


def _keep(data: CommentedMap, names: Collection[str]) -> None:
    """Drop all other trajectories: they may need files that workers do not have; and subsets, which may name them."""
    data["trajectories"] = {name: data["trajectories"][name] for name in names}
    data.pop("subset", None)
    data.pop("subsets", None)


def spelled(trajectory: Trajectory) -> dict[str, Any]:
    """Spell a trajectory as an entry of a sweep file."""
    values = {name: _plain(value) for name, value in trajectory.values.items()}
    result: dict[str, Any] = {"kind": trajectory.kind, **values}
    if (turn := trajectory.turn) is not None:
        turned = {name: _plain(value) for name, value in turn.values.items()}
        matrix = [list(row) for row in turn.orientation]
        result["turn"] = {"kind": turn.kind, **turned, "orientation": {"matrix": matrix}}
    return result


def _plain(value: float | tuple[float, ...]) -> float | list[float]:
    return [float(number) for number in value] if isinstance(value, tuple) else value


def _checked(sweep: Sweep, options: ExcitationOptions) -> dict[str, Entry]:
    mechanism = sweep.family.reference
    if sweep.base is not None or sweep.family.signals or mechanism.has_forces:
        raise ParameterError(
            f"{sweep.name}: got loads on bodies, or a base that moves, which regressors do not know; expected a sweep "
            "without the sections loads and base"
        )
    entries_of_sweep = entries(sweep.text, mechanism)
    if not entries_of_sweep:
        kinds = ", ".join(dict.fromkeys(trajectory.kind for trajectory in sweep.trajectories))
        raise ParameterError(f"{sweep.name}: trajectories: got kinds {kinds}; expected an entry of kind {KIND}")
    if options.criterion not in CRITERIA:
        raise ParameterError(f"criterion: got {options.criterion!r}; {nearest(options.criterion, CRITERIA)}")
    for name in LIMITS:
        limit, actuators = getattr(options, name), len(mechanism.actuators)
        if len(limit) not in (1, actuators) or not all(x > 0 for x in limit):
            rule = f"a number above zero, or one for each of {actuators} actuators"
            raise ParameterError(f"{name}: got {list(limit)}; expected {rule}")
    for name, least in (("steps", 1), ("samples", 2)):
        if not least <= getattr(options, name) <= MOST:
            raise ParameterError(f"{name}: got {getattr(options, name)}; expected a number from {least} to {MOST}")
    for name, size in (("design", sweep.design.size), ("friction", sweep.friction.size)):
        if not 0 <= getattr(options, name) < size:
            raise ParameterError(f"{name}: got {getattr(options, name)}; expected a number from 0 to {size - 1}")
    return entries_of_sweep
