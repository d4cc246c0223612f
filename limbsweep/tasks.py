"""Functions on arrays of states, by the name of the package that has them; `limbsweep` offers them itself as well."""

from typing import TYPE_CHECKING

import tasks as _tasks

if TYPE_CHECKING:
    from tasks import *  # noqa: F403

__all__: list[str] = []
__all__ += _tasks.__all__
if not TYPE_CHECKING:  # for which there are no other names
    __getattr__, __dir__ = _tasks.__getattr__, _tasks.__dir__
