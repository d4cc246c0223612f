"""Commands `limbsweep study ...`."""

from __future__ import annotations

import click

from applications.commands.declared.options import (
    CASES,
    CLUSTER,
    FILE,
    FORCED,
    OBJECTIVES,
    STORE,
    SWEEP,
    WHERE,
    command,
    option,
    output_option,
)

METHODS = ("nsga2", "nsga3", "gp", "tpe", "random")
"""Methods of search: the names of `applications.studies.populations.methods.METHODS`."""

FRICTION = option("--friction", is_flag=True, help="Treat each friction set apart; default: the worst counts.")
TOP = option("--top", type=click.IntRange(1), default=20, show_default=True, help="Rows on the screen.")
CSV = output_option("--csv", "file", help="Also write all rows to this file.")
METRIC = option("--of", "text", required=True, metavar="TEXT", help="Metric, such as peak_force.")
CASE = option(
    "--case", "values", multiple=True, metavar="NAME=VALUE", help="Only under this operating case: payload_mass=3."
)


def _sampling(name: str, text: str, count: int, samples: str, of: str) -> click.Command:
    """Return a command on samples of the parameters of a store; `samples`, `of`: help of --count and --seed."""
    return command(
        name,
        "searches",
        text,
        STORE,
        METRIC,
        option("--count", type=click.IntRange(2), default=count, show_default=True, help=samples),
        option("--seed", type=click.IntRange(0), default=0, show_default=True, help=f"Seed of the {of}."),
        CASES,
        CASE,
        CSV,
        FORCED,
    )


STUDIES = (
    command(
        "pareto",
        "studies",
        "List the designs of STORE that no other beats in all objectives.",
        STORE,
        OBJECTIVES,
        WHERE,
        CASES,
        FRICTION,
        TOP,
        CSV,
        FORCED,
    ),
    command(
        "rank",
        "studies",
        "Rank the designs of STORE by their weighted objectives.",
        STORE,
        OBJECTIVES,
        option("--weight", "weights", multiple=True, type=float, help="One for each objective; default: all alike."),
        WHERE,
        CASES,
        FRICTION,
        TOP,
        CSV,
        output_option("--refine", "following", help="Write the next sweep, around these designs."),
        FORCED,
    ),
    command(
        "sensitivity",
        "sensitivities",
        "Show the share of the variance of a metric that each parameter of STORE explains, alone and with another.",
        STORE,
        METRIC,
        CASES,
        CSV,
        FORCED,
    ),
    command(
        "interaction",
        "sensitivities",
        "Show the interaction of two parameters of STORE: the mean of a metric over parts of their ranges.",
        STORE,
        METRIC,
        option("--between", "pair", required=True, nargs=2, metavar="ONE OTHER", help="The two parameters."),
        option("--parts", type=click.IntRange(2), default=6, show_default=True, help="Parts of each range, at most."),
        CSV,
        FORCED,
    ),
    command(
        "one-at-a-time",
        "searches",
        "Vary one parameter of STORE after another over its swept range, from a base design.",
        STORE,
        METRIC,
        option("--base", type=click.IntRange(0), help="Number of the base design; default: the best."),
        option(
            "--parts", type=click.IntRange(2, 10_000), default=11, show_default=True, help="Values of each parameter."
        ),
        option("--stored", is_flag=True, help="Compute nothing: read designs that differ in one parameter."),
        CASES,
        CSV,
        FORCED,
    ),
    _sampling(
        "sobol",
        "Compute the share of each parameter of STORE in the variance of a metric, alone and with all its "
        "interactions.",
        256,
        "Samples, a power of two.",
        "samples",
    ),
    _sampling(
        "morris",
        "Compute elementary effects of each parameter of STORE on a metric, to find those without effect.",
        20,
        "Number of starting points.",
        "walks",
    ),
    command(
        "uncertainty",
        "uncertainties",
        "Compute the uncertainty of metrics of a design of STORE from that of parameters, by exact derivatives.",
        STORE,
        option(
            "--covariance",
            type=FILE,
            required=True,
            help="CSV: name,deviation; or a matrix with names; or JSON of identify.",
        ),
        option("--of", "texts", multiple=True, metavar="TEXT", help="Metric; default: all with derivatives."),
        option("--design", type=click.IntRange(0), default=0, show_default=True, help="Number of the design."),
        option("--samples", type=click.IntRange(0), default=0, show_default=True, help="Samples drawn beside it."),
        option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the samples."),
        CSV,
        FORCED,
    ),
    command(
        "surrogate",
        "surrogates",
        "Fit a fast model of metrics to the designs of STORE, with its error at designs left out, and save it.",
        STORE,
        option("--of", "texts", multiple=True, required=True, metavar="TEXT", help="Metric or expression; several."),
        WHERE,
        option("--points", type=click.IntRange(2), help="Designs that it is fitted to; default: by their derivatives."),
        option("--held-out", type=click.FloatRange(0.01, 0.9), default=0.2, show_default=True, help="Share left out."),
        option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the choice."),
        output_option(help="File .npz; default STORE.surrogate.npz."),
        CASES,
        FORCED,
    ),
    command(
        "optimise",
        "searches",
        """Improve the best designs of STORE within its swept ranges, by exact derivatives.

        Conditions of the sweep on its designs hold, derived parameters follow, and the row of a table, such as a motor,
        stays as at each start.
        """,
        STORE,
        option(
            "--objective",
            "text",
            metavar="TEXT",
            help="Such as peak_force, 'max dexterity' or 'peak_force / upper_arm'; default: that of the sweep.",
        ),
        WHERE,
        CASES,
        option("--fix", "constant", multiple=True, metavar="NAME", help="A parameter that stays as at each start."),
        option("--starts", type=click.IntRange(1), default=4, show_default=True, help="Best designs to start from."),
        option("--threads", type=click.IntRange(1), default=1, show_default=True, help="Number of parallel searches."),
        CSV,
        FORCED,
    ),
    command(
        "search",
        "populations",
        """Search the designs of the sweep file SWEEP for the best, generation by generation, into a store.

        Of a file with several robots the robot is a category, and --store a folder with a store for each.
        """,
        SWEEP,
        option("--store", required=True, type=click.Path(), help="Store; one of the same search is resumed."),
        option("--method", type=click.Choice(METHODS), default=METHODS[0], show_default=True, help="Search method."),
        option("--generations", type=click.IntRange(1), default=20, show_default=True, help="Generations in all."),
        option("--population", type=click.IntRange(2), default=64, show_default=True, help="Designs of a generation."),
        option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the method."),
        option("--coarse", default="", metavar="SUBSET", help="Subset of SWEEP by which designs are selected first."),
        option("--candidates", type=click.IntRange(2), default=4, show_default=True, help="So many for each design."),
        OBJECTIVES,
        WHERE,
        CASES,
        CLUSTER,
        TOP,
        CSV,
        FORCED,
    ),
)

STUDY = click.Group(
    "study",
    commands={study.name: study for study in STUDIES if study.name},
    help="Rank the designs of a store, and find the parameters that matter.",
)
