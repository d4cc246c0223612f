"""Friction of a real machine as published: Stribeck parameters of the six joints of an ABB IRB 2400, from the base on.

Coulomb and static friction [N m], viscous friction [N m s/rad], Stribeck velocity [rad/s]. Source: Obal and Gierlak
2025, doi 10.2478/ama-2025-0064.
"""

from __future__ import annotations

NAMES = ("coulomb", "static", "viscous", "stribeck_velocity")
IRB_2400: tuple[dict[str, float], ...] = tuple(
    dict(zip(NAMES, values, strict=True))
    for values in (
        (24.2, 36.3, 11.85, 0.0085),
        (31.2, 39.2, 8.323, 0.0031),
        (16.9, 25.3, 9.3613, 0.0094),
        (7.9, 19.2, 7.1228, 0.0175),
        (13.7, 39.7, 7.2654, 0.0176),
        (8.8, 17.5, 2.323, 0.0162),
    )
)
