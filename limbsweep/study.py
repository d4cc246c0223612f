"""Studies on results: feasible designs, best designs, important parameters, and the next sweep."""

from typing import TYPE_CHECKING

import applications.studies as _study

if TYPE_CHECKING:
    from applications.studies import *  # noqa: F403

__all__: list[str] = []
__all__ += _study.__all__
if not TYPE_CHECKING:  # for which there are no other names
    __getattr__, __dir__ = _study.__getattr__, _study.__dir__
