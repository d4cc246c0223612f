"""Serial arms of UR5e, Panda and iiwa class, from published tables: all numbers of the tables are parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from robots.catalog.link_tables import LinkRow, links, parameters
from robots.geometry import about
from robots.model import Family, Mechanism
from robots.types import BASE, Matrix, Number

UP: Matrix = about("x", 0.0, 1.0)
"""A quarter turn about x."""
DOWN: Matrix = about("x", 0.0, -1.0)
OVER: Matrix = ((-1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, 1.0, 0.0))
"""Half a turn about the direction between y and z, which hands these on to each other."""

UR5E = (
    LinkRow("1", BASE, 3.761, (0.0, -0.00193, 0.13689), (0.0084, 0.0084, 0.0064), (0.0, 0.0, 0.0)),
    LinkRow("2", 0, 8.058, (-0.2125, 0.0, 0.11336), (0.0078, 0.21, 0.21), (0.0, 0.0, 0.1625), turned=UP),
    LinkRow("3", 1, 2.846, (-0.2422, 0.0, 0.0265), (0.0016, 0.0462, 0.0462), (-0.425, 0.0, 0.0)),
    LinkRow("4", 2, 1.37, (0.0, -0.01634, 0.1315), (0.0016, 0.0009, 0.0016), (-0.3922, 0.0, 0.0)),
    LinkRow("5", 3, 1.3, (0.0, 0.01634, 0.0979), (0.0016, 0.0009, 0.0016), (0.0, 0.0, 0.1333), turned=UP),
    LinkRow("6", 4, 0.365, (0.0, 0.0, 0.098441), (0.0001, 0.0001, 0.0001), (0.0, 0.0, 0.0997), turned=DOWN),
)
PANDA = (
    LinkRow(
        *("1", BASE, 4.970684, (0.003875, 0.002081, -0.04762), (0.70337, 0.70661, 0.009117), (0.0, 0.0, 0.333)),
        products=(-0.000139, 0.006772, 0.019169),
    ),
    LinkRow(
        *("2", 0, 0.646926, (-0.003141, -0.02872, 0.003495), (0.007962, 0.02811, 0.025995), (0.0, 0.0, 0.0)),
        products=(-0.003925, 0.010254, 0.000704),
        turned=DOWN,
    ),
    LinkRow(
        *("3", 1, 3.228604, (0.027518, 0.039252, -0.066502), (0.037242, 0.036155, 0.01083), (0.0, -0.316, 0.0)),
        products=(-0.004761, -0.011396, -0.012805),
        turned=UP,
    ),
    LinkRow(
        *("4", 2, 3.587895, (-0.05317, 0.104419, 0.027454), (0.025853, 0.019552, 0.028323), (0.0825, 0.0, 0.0)),
        products=(0.007796, -0.001332, 0.008641),
        turned=UP,
    ),
    LinkRow(
        *("5", 3, 1.225946, (-0.011953, 0.041065, -0.038437), (0.035549, 0.029474, 0.008627), (-0.0825, 0.384, 0.0)),
        products=(-0.002117, -0.004037, 0.000229),
        turned=DOWN,
    ),
    LinkRow(
        *("6", 4, 1.666555, (0.060149, -0.014117, -0.010517), (0.001964, 0.004354, 0.005433), (0.0, 0.0, 0.0)),
        products=(0.000109, -0.001158, 0.000341),
        turned=UP,
    ),
    LinkRow(
        *("7", 5, 0.735522, (0.010517, -0.004252, 0.061597), (0.012516, 0.010027, 0.004815), (0.088, 0.0, 0.0)),
        products=(-0.000428, -0.001196, -0.000741),
        turned=UP,
    ),
)
IIWA14 = (
    LinkRow("1", BASE, 5.76, (0.0, -0.03, 0.12), (0.0333, 0.033, 0.0123), (0.0, 0.0, 0.1575)),
    LinkRow("2", 0, 6.35, (0.0003, 0.059, 0.042), (0.0305, 0.0304, 0.011), (0.0, 0.0, 0.2025), turned=OVER),
    LinkRow("3", 1, 3.5, (0.0, 0.03, 0.13), (0.025, 0.0238, 0.0076), (0.0, 0.2045, 0.0), turned=OVER),
    LinkRow("4", 2, 3.5, (0.0, 0.067, 0.034), (0.017, 0.0164, 0.006), (0.0, 0.0, 0.2155), turned=UP),
    LinkRow("5", 3, 3.5, (0.0001, 0.021, 0.076), (0.01, 0.0087, 0.00449), (0.0, 0.1845, 0.0), turned=OVER),
    LinkRow("6", 4, 1.8, (0.0, 0.0006, 0.0004), (0.0049, 0.0047, 0.0036), (0.0, 0.0, 0.2155), turned=UP),
    LinkRow("7", 5, 1.2, (0.0, 0.0, 0.02), (0.001, 0.001, 0.001), (0.0, 0.081, 0.0), turned=OVER),
)


class TableArm:
    """Assembly of an arm from its table, with a docstring of its own; it can be pickled, as functions of a module."""

    def __init__(self, rows: Sequence[LinkRow], text: str):
        self.rows, self.__doc__ = rows, text

    def __call__(self, p: Mapping[str, Number]) -> Mechanism:
        """Return the arm with these parameters."""
        tree = links(self.rows, p)
        return Mechanism.chain("arm", tree, tuple(link.joint for link in tree))


FAMILIES = tuple(
    Family(name, title, source, parameters(rows, source), TableArm(rows, text))
    for name, title, rows, source, text in (
        (
            "ur5e",
            "Arm with six axes of UR5e class",
            UR5E,
            "Universal Robots, parameters for calculations of kinematics and dynamics: lengths, masses, centres of "
            "mass; moments of inertia declared here, of the size of its tubes",
            "Six joints about z of their frames, which are those of Denavit and Hartenberg's joints; stretched along "
            "-x where all are zero.",
        ),
        (
            "panda",
            "Arm with seven axes of Franka Emika Panda class",
            PANDA,
            "Gaz, Cognetti, Oliva, Robuffo Giordano, De Luca, Dynamic identification of the Franka Emika Panda robot, "
            "IEEE Robotics and Automation Letters 4 (4), 2019, as in the manufacturer's description of the robot",
            "Seven joints about z of their frames, upright where all are zero. Its hand is no part of it: "
            "see the parameters of the payload.",
        ),
        (
            "iiwa14",
            "Arm with seven axes of LBR iiwa 14 class",
            IIWA14,
            "MuJoCo Menagerie, kuka_iiwa_14, from the manufacturer's lengths and from Drake's inertias",
            "Seven joints about z of their frames, upright where all are zero.",
        ),
    )
)
