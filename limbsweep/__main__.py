"""The command line: `limbsweep`, or `python -m limbsweep`."""


def main() -> None:
    """Run the command line; worker processes, which load the script that began a run, load no more than this."""
    from applications.commands.cli import main as command_line

    command_line()


if __name__ == "__main__":
    main()
