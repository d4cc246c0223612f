"""Tolerances from an identification: parameters with their covariance, in the file that `limbsweep identify` writes.

    tolerances: {from: arm.json, count: 64, seed: 1}

Deviations of these parameters are drawn together. The robot is the one of the same identification.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pipeline.documents.report import Got, Report
from pipeline.sweep.side_files import SideFiles
from pipeline.sweep.tolerances.sections import FittedTolerances, ToleranceSection, TolerancesSection
from storage.encoding.documents import MAX_BYTES, parse_json

KEY = "tolerances"
EXPECTED = "a file of limbsweep identify --output, with tolerances: parameters and their covariance"
MANY = 1000
"""Parameters that a file may have."""


def fitted_tolerances(report: Report, section: TolerancesSection | None, files: SideFiles) -> TolerancesSection | None:
    """Return a section with the parameters of its file, if it names one. Problems go to `report`."""
    if section is None or section.source is None:
        if section is not None and not section.parameters:
            report((KEY,), Got("neither parameters nor from"), "one of both", "Name the parameters that deviate.")
        return section
    path = (KEY, "from")
    try:
        names, covariance = parse_fitted(parse_json(files.read(section.source, MAX_BYTES)))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        report(path, section.source, EXPECTED, f"It says: {error}." if isinstance(error, ValueError) else "")
        return section
    if twice := [name for name in names if name in section.parameters]:
        report((KEY, "parameters", twice[0]), twice[0], "a parameter that the file of from does not have", key=True)
        return section
    fitted = {name: ToleranceSection(deviation=math.sqrt(covariance[k, k])) for k, name in enumerate(names)}
    return FittedTolerances(
        parameters={**fitted, **section.parameters},
        count=section.count,
        seed=section.seed,
        covariance=tuple(map(tuple, covariance.tolist())),
    )


def parse_fitted(content: dict[str, dict[str, Any]]) -> tuple[tuple[str, ...], np.ndarray]:
    """Return names and covariance of the parameters in a file. Raises ValueError, KeyError, TypeError."""
    part = content["tolerances"]
    names, matrix = part["parameters"], np.array(part["covariance"], dtype=float)
    if not names or len(names) > MANY or not all(isinstance(name, str) and name for name in names):
        raise ValueError(f"got {len(names)} names, expected 1 to {MANY}")
    if matrix.shape != (len(names), len(names)):
        raise ValueError(f"a covariance of shape {matrix.shape} for {len(names)} parameters")
    sizes = np.sqrt(np.maximum(np.diag(matrix), 0.0))
    deviates = sizes > 0.0  # the others do not deviate
    names = tuple(name for name, does in zip(names, deviates, strict=True) if does)
    if not names or len(set(names)) < len(names):
        raise ValueError("no parameter that deviates, or one that is named twice")
    matrix, sizes = matrix[np.ix_(deviates, deviates)], sizes[deviates]
    scaled = matrix / np.outer(sizes, sizes)
    if np.abs(scaled - scaled.T).max() > 1e-6 or np.linalg.eigvalsh(scaled).min() < -1e-6 * len(names):
        raise ValueError("a matrix that is no covariance")
    return names, (matrix + matrix.T) / 2.0
