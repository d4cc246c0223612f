"""The robots of the catalogue by what they are, for tests that hold for some of them."""

from __future__ import annotations

from robots import catalog

PARALLEL = sorted(name for name, family in catalog.FAMILIES.items() if not family.reference.is_chain)
CHAINS = sorted(set(catalog.FAMILIES) - set(PARALLEL))
CLOSED_CHAINS = [name for name in CHAINS if catalog.FAMILIES[name].reference.limbs[0].loops]
TREES = [name for name in CHAINS if name not in CLOSED_CHAINS]
