"""Forecast of the time of a plan: the operations of the robot times the duration of one, plus the rest.

It is good to a factor of two or three; `pipeline.execution.measured_time` measures for `limbsweep check`. The
figures are those of one core of a current server processor with AVX-512 (`docs/benchmarks.md`); `limbsweep bench robots
run series` prints them for another machine.
"""

from __future__ import annotations

from collections.abc import Mapping

from robots.data_classes import dataclass, field


@dataclass(frozen=True)
class Operations:
    """Operations of one sample: inverse kinematics and dynamics, and the same with the reactions of all joints."""

    dynamics: float
    reactions: float


COUNTED: Mapping[str, Operations] = {
    "delta_3rr2rrr": Operations(5029, 16539),
    "delta_rl5_1450": Operations(4630, 15942),
    "delta_4rr2rrr": Operations(6832, 22551),
    "delta_3r2us": Operations(5072, 9313),
    "irsbot2": Operations(6029, 18012),
    "five_bar": Operations(1052, 2315),
    "gough_stewart": Operations(5942, 8180),
    "hexapod_6rrrprr": Operations(17753, 24857),
}
"""Operations as `limbsweep bench robots` counts them, at states from a cold start."""
PER_JOINT = Operations(240, 720)
"""Operations for each joint of a robot that is not counted: the median of the counted robots."""
OPERATION = 0.035e-9
"""Seconds of one operation of a compiled kernel."""
GLUE = 0.05e-6
"""Seconds of a sample outside kernels: its motion, its status, the sums of its metrics."""
FRICTION_SECONDS = 4e-9
"""Seconds of one actuator of one sample in one friction set."""
STORED = 2e-9
"""Seconds of one byte that is compressed and stored."""
PATH = 0.2
"""Seconds of the fastest motion along a path of one design, with limits of power or jerk."""
DIRECTION = 3.0
"""Operations of the derivatives along a direction, in those of the values."""
DIRECTION_GLUE = 1.2e-6
"""Seconds of a direction of a sample outside kernels."""
TASK = 1e-3
"""Seconds of a task in scheduler and worker, whatever is in it."""
SCHEDULED = 0.5e-3
"""Seconds that the scheduler, which is one thread, is busy with a task."""
BUSY = 0.5
"""Share of a run that the scheduler may be busy with limb tasks: beyond it, workers would wait for it now and then."""
LITTLE = 1.0
"""Seconds of the scheduler that are ignored."""


@dataclass(frozen=True)
class Work:
    """Data that decide the time of a plan; `joints` and `actuators` are counts of the whole robot."""

    robot: str
    joints: int
    actuators: int
    samples: int
    friction_sets: int
    stored: int
    tasks: int
    reacts: bool
    paths: int = field(default=0, kw_only=True)
    """Designs times trajectories whose fastest motions are looked for."""
    directions: int = field(default=0, kw_only=True)
    """Directions that metrics are differentiated along."""
    repeats: int = field(default=0, kw_only=True)
    """Computations of all samples for derivatives that are differences."""

    @property
    def is_counted(self) -> bool:
        """Return whether the operations of the robot are known, not guessed from its joints."""
        return self.robot in COUNTED

    @property
    def seconds(self) -> float:
        """Seconds of one core for the whole plan."""
        return self.computing + self.tasks * TASK

    @property
    def computing(self) -> float:
        """Seconds of one core that are spent in tasks."""
        return self.once + self.stored * STORED + self.differentiating

    @property
    def once(self) -> float:
        """Seconds of one core for all samples, computed once."""
        known, count = COUNTED.get(self.robot, PER_JOINT), 1 if self.is_counted else self.joints
        operations = count * (known.reactions if self.reacts else known.dynamics)
        sample = operations * OPERATION + GLUE + self.friction_sets * self.actuators * FRICTION_SECONDS
        return self.samples * sample + self.paths * PATH

    @property
    def differentiating(self) -> float:
        """Seconds of one core that derivatives take."""
        known, count = COUNTED.get(self.robot, PER_JOINT), 1 if self.is_counted else self.joints
        operations = count * (known.reactions if self.reacts else known.dynamics)
        exact = self.samples * self.directions * (DIRECTION * operations * OPERATION + DIRECTION_GLUE)
        return exact + self.repeats * self.once

    @property
    def limb_threads(self) -> float:
        """Threads up to which tasks for each limb keep a cluster busy; with more the scheduler falls behind."""
        scheduled = self.tasks * SCHEDULED
        return float("inf") if scheduled <= LITTLE else BUSY * self.computing / scheduled

    @property
    def text(self) -> str:
        """Cost estimate that `limbsweep check` prints."""
        rough = "" if self.is_counted else ", guessed from the number of joints"
        return f"about {duration(self.seconds)} of one core, to be shared by all of them{rough}"


def duration(seconds: float) -> str:
    """Format a time for people."""
    for unit, scale in (("days", 86400.0), ("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 1.5 * scale:
            return f"{seconds / scale:.2g} {unit}"
    return f"{seconds:.2g} seconds" if seconds >= 1.0 else "a second"
