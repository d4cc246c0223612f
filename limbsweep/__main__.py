"""The command line: `limbsweep`, or `python -m limbsweep`."""

from applications.commands.cli import main

if __name__ == "__main__":
    main()
