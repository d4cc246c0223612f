"""The command line: `limbsweep`, or `python -m limbsweep`."""

from pipeline.cli import main

if __name__ == "__main__":
    main()
