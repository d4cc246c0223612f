"""Body of the command calibrate."""

from __future__ import annotations

from pathlib import Path

from applications.commands.terminal import print_rows
from applications.identification import calibration
from pipeline.documents import outputs


def calibrate(description: Path, folder: Path | None, output: Path | None) -> None:
    """Estimate the geometry of a robot from measured poses or redundant sensors."""
    if output is not None:
        outputs.check_output(output, flag="")
        outputs.checked_suffix(output, calibration.FORMATS)
    result = calibration.calibrate_from(calibration.read_calibration(description, folder))
    print_rows(result.rows())
    if output is not None:
        with outputs.output(output) as draft:
            result.save(draft)
