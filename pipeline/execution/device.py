"""The device that computes the blocks of a run: processors, or the graphics cards of workers.

A worker with cards has the resource GPU, as many as blocks may be computed on its card at a time; tasks go nowhere else
then. The bits of results are the same on all devices, so that a store may be begun on one and finished on another.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pipeline.cluster.settings import RESOURCE
from pipeline.errors import InputError, refused
from pipeline.execution.policy.workers import worker_table
from pipeline.plan.model import Plan
from robots.devices import CPU, GPU, Device

if TYPE_CHECKING:
    from distributed import Client


def on_device(plan: Plan, device: Device, source: str, client: Client | None) -> Plan:
    """Return a plan for a device that is there. Raises InputError where it is not, or has no use for the plan."""
    if device == CPU:
        return plan
    if plan.sweep.simulation is not None:
        hint = "Leave device out: steps of a simulation are too short for a card."
        raise _error(source, "gpu for a simulation", "device: cpu, in which simulations are", hint)
    problem = _card_problem() if client is None else _cluster_problem(client)
    if problem:
        raise _error(source, "gpu", "a graphics card that can be used", f"{problem}.")
    return replace(plan, device=GPU)


def resources(plan: Plan) -> dict[str, float] | None:
    """Return the resources of a worker that a task of a plan takes."""
    return {RESOURCE: 1} if plan.device == GPU else None


def _error(source: str, got: str, expected: str, hint: str) -> InputError:
    return refused(source, got, expected, hint, key="limbsweep.cluster.device")


def _card_problem() -> str:
    """Return the fault of the card of this process; an empty text if it can be used."""
    from tasks.kernels.cards import CardError, card  # needs the extra `gpu`

    try:
        card()
    except CardError as error:
        return str(error)
    return ""


def _cluster_problem(client: Client) -> str:
    workers = worker_table(client)
    able = [address for address, worker in workers.items() if worker.get("resources", {}).get(RESOURCE)]
    if not able:
        return f"No worker has the resource {RESOURCE}; start workers with --resources '{RESOURCE}=4'"
    return next(filter(None, client.run(_card_problem, workers=able).values()), "")
