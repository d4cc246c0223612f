"""The robots of the catalogue by what they are, for tests that hold for some of them."""

from __future__ import annotations

from robots import catalog

CHAINS = sorted(name for name, family in catalog.FAMILIES.items() if family.reference.is_chain)
GEARED = sorted(
    name
    for name, family in catalog.FAMILIES.items()
    if name not in CHAINS and any(limb.drives for limb in family.reference.limbs)
)
"""Parallel robots by their motors; the references know actuators that are joints."""
PARALLEL = sorted(set(catalog.FAMILIES) - set(CHAINS) - set(GEARED))
CLOSED_CHAINS = [name for name in CHAINS if catalog.FAMILIES[name].reference.limbs[0].loops]
TREES = [name for name in CHAINS if name not in CLOSED_CHAINS]
