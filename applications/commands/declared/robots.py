"""Commands about robots: the catalogue, pictures, their equations as C, first sweep files, imports."""

from __future__ import annotations

import click

from applications.commands.declared.options import FILE, FORCED, argument, command, option, output_option

NAME = argument("name")
SETTINGS = option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="Value of a parameter.")

ROBOTS = (
    command(
        "robots",
        "catalogue",
        "List the catalogue, or the parameters of the robot NAME, which may be a robot file.",
        argument("name", required=False),
        option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="With --export: value of a parameter."),
        output_option("--export", "export", metavar="FILE", help="Write a robot file, or URDF, SDF, MJCF (.xml)."),
        FORCED,
    ),
    command(
        "show",
        "picture",
        "Draw the robot NAME at its reference pose, also from a robot file that is still wrong.",
        NAME,
        SETTINGS,
        option("--labels", is_flag=True, help="Name all bodies and joints; a wrong file always has names."),
        output_option(help="The PNG file; default NAME.png."),
        FORCED,
    ),
    command(
        "code",
        "equations",
        "Write the equations of the robot NAME as C, with a header.",
        NAME,
        option("--function", "functions", multiple=True, metavar="FUNCTION", help="One of several; default: all."),
        SETTINGS,
        option("--gravity", nargs=3, type=float, metavar="X Y Z", help="In m/s^2; default: 0 0 -9.81."),
        option("--parameter", "parameters", multiple=True, metavar="NAME", help="A parameter that is an argument."),
        output_option(help="The file of C; default NAME.c. Its header is beside it."),
        FORCED,
    ),
    command(
        "new",
        "first_sweep",
        "Write a commented sweep file for the robot NAME; `new cluster` writes a commented cluster file.",
        NAME,
        output_option(help="Default: sweep.yaml; cluster.yaml for a cluster."),
        FORCED,
    ),
    command(
        "import",
        "robot_import:import_file",
        "Make a robot file of FILE: URDF, SDF, xacro, USD, a model of MuJoCo, or a table of joints (.csv).",
        argument("file", type=FILE),
        option("--loops", type=FILE, help="File with joints that close loops and driven joints."),
        option("--base", type=click.Choice(["fixed", "floating"]), default="fixed", help="Whether the root moves."),
        option("--strict-inertia", is_flag=True, help="Refuse impossible inertias; default: repair them."),
        option("--numbers", is_flag=True, help="Write numbers instead of parameters."),
        option("--expand-macros", is_flag=True, help="Expand macros of xacro, by an evaluator that runs nothing."),
        option("--arg", "arguments", multiple=True, metavar="NAME:=VALUE", help="An argument of the macros; expands."),
        option("--package", "packages", multiple=True, metavar="NAME=FOLDER", help="Folder of a ROS package."),
        option("--leave-out", multiple=True, metavar="KIND", help="Elements to leave out: springs, gravity, ..."),
        output_option(default="robot.yaml", help="Default: robot.yaml."),
        FORCED,
    ),
)
