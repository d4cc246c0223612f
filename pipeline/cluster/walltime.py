"""Walltime of a job of a batch system, and whether that is enough for a block of a plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.cluster.settings import effective
from pipeline.plan.cost import duration

if TYPE_CHECKING:
    from pipeline.cluster.file import ClusterConfig
    from pipeline.plan.model import Plan

BLOCKS = 2
"""Blocks that a job should at least have time for: one is lost when it ends."""


def walltime(config: ClusterConfig) -> float | None:
    """Seconds that a job of a cluster lives, as its batch system reads it; None where nothing limits it."""
    import dask.config

    if not config.kind.walltime[0]:
        return None
    text = dask.config.get(".".join((*config.kind.section, "walltime")), None, config=effective(config.settings))
    return None if text is None else seconds(str(text), config.kind.walltime[1])


def seconds(text: str, form: str) -> float:
    """A time of a checked form, HH:MM:SS with days before a dash, or HH:MM."""
    days, _, rest = text.rpartition("-")
    parts = [int(part) for part in rest.split(":")]
    hours, minutes = parts[0], parts[1]
    return float(86400 * int(days or 0) + 3600 * hours + 60 * minutes + (parts[2] if form.endswith("SS") else 0))


def require_walltime(config: ClusterConfig, plan: Plan) -> None:
    """See that a job lives long enough for a few blocks. Raises InputError before anything is started."""
    lives, need = walltime(config), BLOCKS * plan.work.seconds / plan.blocks
    if lives is not None and lives < need:
        got, rule = f"a walltime of {duration(lives)}", f"at least {duration(need)}, for {BLOCKS} blocks on one core"
        raise config.problem("kind", got, rule, f"Raise walltime in the section {'.'.join(config.kind.section)}.")
