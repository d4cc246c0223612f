"""Files of a store before they are written, each made when it is asked for, so that no more than one is in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping


class Files(Mapping[str, bytes]):
    """The content of files by key.

    The function that makes a file is called at each access, and has to return the same bytes.
    """

    def __init__(self, makers: Mapping[str, Callable[[], bytes]]) -> None:
        self._makers = dict(makers)

    @classmethod
    def of(cls, files: Mapping[str, bytes]) -> Files:
        """Return files from bytes in memory."""
        return cls({key: _constant(data) for key, data in files.items()})

    def __getitem__(self, key: str) -> bytes:
        return self._makers[key]()

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)

    def __or__(self, other: Files) -> Files:
        """Return these files together with others."""
        return Files({**self._makers, **other._makers})


def _constant(data: bytes) -> Callable[[], bytes]:
    return lambda: data
