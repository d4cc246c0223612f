"""A six-bar of Stephenson's third kind in the plane, its angles followed with all turns by integration in SciPy.

Points are complex numbers. With absolute angles of crank a, coupler b, rocker c, link e, output f, the loops are

    crank e^ia + coupler e^ib = ground + rocker e^ic
    crank e^ia + (u + i v) e^ib + link e^ie = far + output e^if

and their derivatives over a are linear in the rates of the other angles. Bars are solid cylinders between their pins.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import fsolve

ANGLES = ("coupler", "rocker", "link", "output")


@dataclass(frozen=True)
class SixBar:
    """Lengths [m], masses [kg] and the `home_angle` [deg] of the crank by name; bars so many times as long as thick."""

    values: Mapping[str, float]
    slender: float

    @property
    def home(self) -> float:
        """Angle of the crank at the reference configuration [rad]."""
        return float(np.radians(self.values["home_angle"]))

    def _bars(self, crank: float, angles: np.ndarray) -> np.ndarray:
        """Both loops as far as they are open (4,)."""
        p, (b, c, e, f) = self.values, np.exp(1j * np.asarray(angles))
        pin = p["crank"] * np.exp(1j * crank)
        first = pin + p["coupler"] * b - (p["rocker_x"] + 1j * p["rocker_z"]) - p["rocker"] * c
        point = pin + (p["coupler_point_u"] + 1j * p["coupler_point_v"]) * b
        second = point + p["link_length"] * e - (p["output_x"] + 1j * p["output_z"]) - p["output"] * f
        return np.array([first.real, first.imag, second.real, second.imag])

    def slopes(self, crank: float, angles: np.ndarray) -> np.ndarray:
        """Derivatives of the angles (4,) over that of the crank."""
        p, (b, c, e, f) = self.values, 1j * np.exp(1j * np.asarray(angles))
        u = p["coupler_point_u"] + 1j * p["coupler_point_v"]
        rows = np.array(
            [[p["coupler"] * b, -p["rocker"] * c, 0, 0], [u * b, 0, p["link_length"] * e, -p["output"] * f]]
        )
        pin = 1j * p["crank"] * np.exp(1j * crank)
        right = -np.array([pin, pin])
        return np.linalg.solve(
            np.stack([rows.real, rows.imag], axis=1).reshape(4, 4), np.stack([right.real, right.imag], axis=1).ravel()
        )

    def at_home(self) -> np.ndarray:
        """The angles (4,) at the reference configuration: rocker and link to the left, as the catalogue has it."""
        guess = np.radians([10.0, 60.0, 10.0, 60.0])
        return fsolve(lambda x: self._bars(self.home, x), guess, xtol=1e-14)

    def followed(self, turned: np.ndarray) -> np.ndarray:
        """The angles (n, 4) with all their turns where the crank has turned by these angles, ascending from zero."""
        run = solve_ivp(
            lambda a, x: self.slopes(self.home + a, x), (0.0, float(turned[-1])), self.at_home(),
            method="DOP853", t_eval=turned, rtol=1e-13, atol=1e-14,
        )  # fmt: skip
        return run.y.T

    def inertia(self, crank: float, angles: np.ndarray) -> float:
        """Twice the kinetic energy at unit rate of the crank [kg m^2]."""
        p, rates = self.values, self.slopes(crank, angles)
        pin = 1j * p["crank"] * np.exp(1j * crank)
        u = p["coupler_point_u"] + 1j * p["coupler_point_v"]
        b, c, e, f = 1j * np.exp(1j * np.asarray(angles)) * rates
        ends = {
            "crank": (0j, pin), "coupler": (pin, pin + p["coupler"] * b), "rocker": (0j, p["rocker"] * c),
            "link": (pin + u * b, pin + u * b + p["link_length"] * e), "output": (0j, p["output"] * f),
        }  # fmt: skip
        # of a thin rod whose ends have velocities v, w: m (v v + v w + w w) / 3 is twice its kinetic energy
        thick = 1.0 / (16.0 * self.slender**2)
        return sum(
            p[f"{name}_mass"] * ((abs(v) ** 2 + (v * w.conjugate()).real + abs(w) ** 2) / 3.0 + abs(w - v) ** 2 * thick)
            for name, (v, w) in ends.items()
        )

    def swing(self, turned: np.ndarray, stiffness: float, speed: float) -> np.ndarray:
        """Times (n,) [s] at which the crank, begun at some speed, has turned by these angles, with a spring [N m/rad].

        The spring is between crank and coupler, without force at the reference configuration: the speed follows from
        the energy, and the time is an integral over the angle.
        """
        energy = self.inertia(self.home, self.at_home()) * speed**2  # twice it

        def slopes(a: float, x: np.ndarray) -> np.ndarray:
            angles, turn = x[:4], x[0] - self.at_home()[0] - a
            rate = np.sqrt((energy - stiffness * turn**2) / self.inertia(self.home + a, angles))
            return np.array([*self.slopes(self.home + a, angles), 1.0 / rate])

        begin = np.array([*self.at_home(), 0.0])
        run = solve_ivp(slopes, (0.0, float(turned[-1])), begin, method="DOP853", t_eval=turned, rtol=1e-12, atol=1e-14)
        return run.y[4]
