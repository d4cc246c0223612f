"""Kinematics and dynamics of parallel robots over many designs, friction parameters and trajectories.

    import limbsweep as ls

    robot = ls.robots.build("delta_3rr2rrr", upper_arm=0.28)
    torques = ls.inverse_dynamics(robot, position=[0.0, 0.1, -0.9])
    results = ls.run(ls.Sweep.from_yaml("sweep.yaml"), "out.zarr")

This is the public face: every name is loaded from its home on first use. Names of this package keep their meaning;
modules behind it may move.
"""

from limbsweep._sources import require_ours

require_ours()

from robots.loading import offered_by_stub  # noqa: E402 - whose it is must be known first

__getattr__, __dir__, __all__ = offered_by_stub(__name__, __file__)
