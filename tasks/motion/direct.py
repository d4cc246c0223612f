"""The direct problem, motion over time from forces, for any robot: parallel robots and chains behind one call."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from robots.model import Robot
from robots.parameters import nearest
from tasks.motion import adaptive, chains, platforms


def simulate(robot: Robot, **given: Any) -> Any:
    """Motion of a batch in constant steps: see `tasks.motion.platforms`, of a chain `tasks.motion.chains`.

    Returns a Simulation, of a chain a ChainMotion. Raises TypeError for what does not belong to the robot's kind.
    """
    return _called(robot, given, platforms.simulate, chains.simulate_chain)


def simulate_adaptive(robot: Robot, **given: Any) -> Any:
    """Motion of one case in adaptive steps: see `tasks.motion.platforms`, of a chain `tasks.motion.adaptive`."""
    return _called(robot, given, platforms.simulate_adaptive, adaptive.simulate_chain_adaptive)


def _called(robot: Robot, given: dict[str, Any], platform: Callable[..., Any], chain: Callable[..., Any]) -> Any:
    chosen, kind = (chain, "chain") if robot.mechanism.is_chain else (platform, "parallel robot")
    known = [name for name in inspect.signature(chosen).parameters if name != "robot"]
    for name in given:
        if name not in known:
            raise TypeError(
                f"{name}: {robot.name} is a {kind}, whose simulation does not take it; {nearest(name, known)}"
            )
    return chosen(robot, **given)
