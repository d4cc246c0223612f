"""Commands of identification: dataset, identify, calibrate, excite."""

from __future__ import annotations

import click

from applications.commands.declared.options import (
    CLUSTER,
    FILE,
    GRANULARITY,
    SOURCE,
    SUBSET,
    SWEEP,
    TARGET,
    argument,
    command,
    force_option,
    option,
    output_option,
)


class NumberList(click.ParamType):
    """One number, or several with commas between them."""

    name = "number"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[float, ...]:
        """Parse the numbers."""
        try:
            return tuple(float(number) for number in str(value).split(","))
        except ValueError:
            self.fail(f"got {value!r}; expected a number, or one for each actuator with commas between", param, ctx)


def _limit(name: str, text: str) -> click.Option:
    """Return the option for a limit of the actuators."""
    return option(name, type=NumberList(), help=f"{text}; one number, or one for each with commas.")


IDENTIFICATION = (
    command(
        "dataset",
        "dataset",
        """Generate identification data: run SWEEP, which has a section `measurement` or `split`, and write its card.

        With --publish also a folder for others: Parquet files with a card, which Hugging Face, LeRobot, Croissant and
        plain readers load without limbsweep.
        """,
        SOURCE,
        SUBSET,
        TARGET,
        CLUSTER,
        GRANULARITY,
        option("--publish", type=FILE, metavar="DIR", help="A new folder for the published dataset."),
        option("--licence", help="Licence, such as cc-by-4.0, or its address; default: that in the sweep."),
        option(
            "--author", "authors", multiple=True, help="An author; may be given again; default: those in the sweep."
        ),
        option("--single", is_flag=True, help="Publish numbers in single precision."),
        option("--webdataset", is_flag=True, help="Publish shards of WebDataset, too."),
    ),
    command(
        "identify",
        "identify",
        """Estimate base parameters: of the robots in a store, or of a machine from its recordings.

        SOURCE is a store, of results or of recordings; or a recording description (.yaml), which names robot and files;
        or a robot, with FILES as recordings for training and --columns for their columns. Exit status 1 where some
        robots cannot be estimated.
        """,
        argument("source"),
        argument("files", nargs=-1),
        option(
            "--method",
            help="least_squares, weighted (the default), reweighted (robust), total_least_squares, consistent, or "
            "separable.",
        ),
        option(
            "--deviations",
            help="Of recordings: largest (the default), hac, autoregressive, white, or bootstrap (of blocks).",
        ),
        option(
            "--motion",
            type=click.Choice(["measured", "commanded"]),
            help="Of a store: source of motions; default: measured by encoders, commanded with --clean.",
        ),
        option("--clean", is_flag=True, help="Of a store: use signals without errors of sensors."),
        option("--design", "designs", type=int, multiple=True, help="Of a store: number of a design; default: all."),
        option("--columns", type=FILE, help="Recording description with the columns of FILES."),
        option("--folder", type=FILE, help="Folder of the files of a recording description."),
        option("--validation", multiple=True, metavar="FILE", help="A recording for validation; may be given again."),
        option("--test", multiple=True, metavar="FILE", help="A recording for a test; may be given again."),
        option("--output", type=FILE, help="A new CSV or JSON file for all parameters."),
        option("--robot", "robot_file", type=FILE, help="New .yaml, .urdf or .xml (MJCF) file of the robot."),
        option("--report", "page", type=FILE, help="A new HTML file with curves and parameters."),
        option("--dataset", "netcdf", type=FILE, help="A new .nc file for the xarray dataset."),
        option("--store", help="A new store for recordings, raw and prepared, to identify again from."),
        CLUSTER,
    ),
    command(
        "calibrate",
        "calibrate",
        """Estimate the geometry of a robot from measured poses or redundant sensors.

        DESCRIPTION (.yaml) names the robot, the files of poses and the meaning of their columns.
        """,
        argument("description", type=FILE),
        option("--folder", type=FILE, help="Folder of the files of the description."),
        option("--output", type=FILE, help="A new .csv or .json for all values, or .yaml for the robot."),
    ),
    command(
        "excite",
        "excite",
        """Optimise the random Fourier motions of SWEEP for identification, and write a sweep with the best.

        Each motion of an entry random_fourier is the start of a search, a task of its own; its limits are kept, and
        those of the section limits of SWEEP.
        """,
        SWEEP,
        output_option(required=True, help="The sweep file to write."),
        force_option("--overwrite"),
        option("--criterion", default="condition", show_default=True, help="condition or determinant (D-optimality)."),
        _limit("--force", "Largest force or torque of actuators [N or N m]"),
        _limit("--stroke", "Largest distance of actuators from the centre [rad or m]"),
        _limit("--actuator-velocity", "Largest velocity of actuators [rad/s or m/s]"),
        _limit("--actuator-acceleration", "Largest acceleration of actuators [rad/s^2 or m/s^2]"),
        option("--steps", type=click.IntRange(1), default=60, show_default=True, help="Steps of each search."),
        option("--samples", type=click.IntRange(16), default=100, show_default=True, help="Samples of a period."),
        option("--design", type=int, default=0, show_default=True, help="Number of the design."),
        option("--spheres", type=FILE, help="YAML file of spheres around bodies that must stay apart."),
        CLUSTER,
    ),
)
