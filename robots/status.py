"""Status of one sample, as data: code, meaning, and advice."""

from __future__ import annotations

from enum import IntEnum


class Status(IntEnum):
    """Outcome of one sample. A sample that is not OK holds NaN in its results.

    >>> ls.Status(0) is ls.Status.OK
    True
    >>> [status.name for status in ls.Status][:3]
    ['OK', 'NOT_REACHABLE', 'WRONG_BRANCH']
    """

    OK = 0
    NOT_REACHABLE = 1
    WRONG_BRANCH = 2
    SINGULAR = 3
    ILL_CONDITIONED = 4
    NOT_CONVERGED = 5
    LOOP_OPEN = 6
    FRICTION_NOT_CONVERGED = 7
    JOINT_LIMIT = 8
    INTEGRATION_FAILED = 9
    NONFINITE = 10
    COMPUTATION_FAILED = 11
    PLATFORM_SINGULAR = 12
    CONSTRAINT_SINGULAR = 13
    SINGULARITY_CROSSED = 14
    DIVERGED = 15
    FRICTION_NO_SOLUTION = 16
    FRICTION_SEVERAL_SOLUTIONS = 17
    TURNS_UNKNOWN = 18
    ACTUATOR_LIMIT = 19
    KINK = 20
    ENDED = 21


ADVICE: dict[Status, str] = {
    Status.OK: "nothing to do",
    Status.NOT_REACHABLE: "a limb cannot reach the platform; lengthen it, or move the trajectory into the workspace",
    Status.WRONG_BRANCH: "a limb is not assembled as at the reference pose; keep to poses that this assembly reaches",
    Status.SINGULAR: "a limb has lost rank (type 1), at the end of its reach or folded, or so near that digits are "
    "lost; keep the trajectory away (a simulation passes it in all joints of the tree: method `spanning_tree`)",
    Status.ILL_CONDITIONED: "close to a singularity of the platform, where forces are very large; leave more distance",
    Status.NOT_CONVERGED: "the joint variables did not converge; check the pose, or allow more Newton steps",
    Status.LOOP_OPEN: "a loop does not close within the tolerance; check the lengths that form it",
    Status.FRICTION_NOT_CONVERGED: "friction and reactions did not converge, and it is not proven that "
    "no solution exists; lower the friction, or smooth its law",
    Status.JOINT_LIMIT: "a joint is beyond its limits; change the trajectory or the limits",
    Status.INTEGRATION_FAILED: "the integrator stopped before the end; use a smaller step or look for a singularity",
    Status.NONFINITE: "a result is not a finite number; check the inputs for extreme values, springs whose ends meet, "
    "and bushings whose frames are turned by more than 150 degrees to each other (`turn`, `to_turn`)",
    Status.COMPUTATION_FAILED: "the program itself failed here; `limbsweep status` has the reason: please report it",
    Status.PLATFORM_SINGULAR: "the actuators cannot hold the platform here (type 2), or, fewer than the freedoms, make "
    "this motion; keep the trajectory away",
    Status.CONSTRAINT_SINGULAR: "the limbs cannot hold the platform where it is not to move, here or on "
    "the way from the reference pose, or no limb holds a load on it, such as a moment on a platform that is a point; "
    "keep the trajectory, or the load, away",
    Status.SINGULARITY_CROSSED: "beyond a singularity of the platform (type 2), seen from the reference pose; stay on "
    "its side, or put the reference pose on this one",
    Status.DIVERGED: "the motion ran away; lower the gains, or use a smaller step or sample time",
    Status.FRICTION_NO_SOLUTION: "no forces or motion fit the friction, whose loads it makes itself (Painleve); lower "
    "the coefficients, or lengthen guides and arms of bearings",
    Status.FRICTION_SEVERAL_SOLUTIONS: "several forces or motions fit the friction, whose loads it makes itself "
    "(Painleve); lower the coefficients, or lengthen guides and arms of bearings",
    Status.TURNS_UNKNOWN: "a spring or a limit is at a joint whose full turns are not known, as a singularity lies on "
    "the straight way from the reference pose; put it at a joint that is driven, or the reference pose nearer",
    Status.ACTUATOR_LIMIT: "no motion along the path keeps the limits of the actuators here; raise the limits, or move "
    "the path to where less is needed",
    Status.KINK: "the quantity has a kink or a jump here: its derivatives from both sides differ, or do not converge; "
    "ask for `sides: true`, or for a metric that is a mean, such as rms_force",
    Status.ENDED: "the trajectory has ended before this time, while another one continues; nothing to do",
}
"""Advice for the user about each status."""


OF_FRICTION = (Status.FRICTION_NO_SOLUTION, Status.FRICTION_SEVERAL_SOLUTIONS)
"""Status codes that occur only in simulations and with friction that depends on reactions of passive joints."""


def flags(
    *,
    simulated: bool = False,
    settling: bool = False,
    counted: bool = False,
    derived: bool = False,
    uneven: bool = False,
) -> dict[str, int]:
    """Return the names and codes, for the attributes of a stored status.

    `settling`: friction depends on reactions; `counted`: springs or limits see positions of joints; `derived`:
    derivatives of metrics have a status; `uneven`: some trajectories end before others.
    """
    beyond = {Status.ACTUATOR_LIMIT} | ({Status.DIVERGED} if not simulated else set())  # of fastest motions alone
    beyond |= {Status.TURNS_UNKNOWN} if not counted else set()
    beyond |= {Status.KINK} if not derived else set()
    beyond |= {Status.ENDED} if not uneven else set()
    beyond |= {*OF_FRICTION} if not (simulated or settling) else set()
    return {status.name: int(status) for status in Status if status not in beyond}
