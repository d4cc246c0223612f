"""The robots of the catalogue by what they are, for tests that hold for some of them."""

from __future__ import annotations

from robots import catalog

CHAINS = sorted(name for name, family in catalog.FAMILIES.items() if family.reference.is_chain)
WITH_DRIVES = sorted(
    name for name, family in catalog.FAMILIES.items() if any(limb.drives for limb in family.reference.limbs)
)
"""Robots whose actuators are drives; the references know actuators that are joints."""
GEARED = sorted(set(WITH_DRIVES) - set(CHAINS))
"""Parallel robots among them."""
PARALLEL = sorted(set(catalog.FAMILIES) - set(CHAINS) - set(GEARED))
CLOSED_CHAINS = [name for name in CHAINS if catalog.FAMILIES[name].reference.limbs[0].loops]
TREES = [name for name in CHAINS if name not in CLOSED_CHAINS]
