"""Arguments of a call from flat names, for tests that change one of them at a time."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from tasks.dynamics.records import NO_FORCES, STANDING, Forces, Motion

OF_FORCES = {field.name for field in fields(Forces)}


def in_records(*, force: Any = None, **flat: Any) -> dict[str, Any]:
    """Return arguments with loads, friction and the like in `forces`, and base_twist and the like in `environment`.

    `force` is that of the actuators; what are records already are completed.
    """
    forces = {name: flat.pop(name) for name in OF_FORCES & {*flat}} | ({} if force is None else {"actuator": force})
    base = {name: flat.pop(f"base_{name}") for name in ("rotation", "twist", "acceleration") if f"base_{name}" in flat}
    if forces:
        flat["forces"] = replace(flat.get("forces", NO_FORCES), **forces)
    if base:
        gravity = {"gravity": flat.pop("gravity")} if "gravity" in flat else {}
        flat["environment"] = replace(flat.get("environment", STANDING), base=Motion(**base), **gravity)
    return flat
