"""The robots of the catalogue by what they are, for tests that hold for some of them.

Tests that go over all robots do so at two lengths. Mechanisms of the literature, which are data, share all their code
with the others: `tests/robots/catalog/test_literature.py` holds each of them to Pinocchio, to closed forms and to its
file. Each test goes over four robots of those that it names, other ones than other tests. The rest, and mechanisms of
the literature, wait for `-m slow`: see `tests/conftest.py`.
"""

from __future__ import annotations

from robots import catalog

CORE = tuple(name for name in catalog.FAMILIES if name not in catalog.LITERATURE)
CHAINS = sorted(name for name in CORE if catalog.FAMILIES[name].reference.is_chain)
WITH_DRIVES = sorted(name for name in CORE if any(limb.drives for limb in catalog.FAMILIES[name].reference.limbs))
"""Robots whose actuators are drives; the references know actuators that are joints."""
GEARED = sorted(set(WITH_DRIVES) - set(CHAINS))
"""Parallel robots among them."""
PARALLEL = sorted(set(CORE) - set(CHAINS) - set(GEARED))
CLOSED_CHAINS = [name for name in CHAINS if catalog.FAMILIES[name].reference.limbs[0].loops]
TREES = [name for name in CHAINS if name not in CLOSED_CHAINS]
