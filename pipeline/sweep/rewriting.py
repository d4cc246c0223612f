"""Rewrite a sweep file with changed data; the comments of the user stay where they are."""

from __future__ import annotations

import io
from collections.abc import Callable

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq


def rewritten(text: str, change: Callable[[CommentedMap], None], comment: str) -> str:
    """Rewrite the text of a file after `change` has changed its data in place, below a comment of one line."""
    yaml = YAML()
    yaml.width = 120
    data = yaml.load(text)
    change(data)
    stream = io.StringIO()
    stream.write(f"# {comment}\n")
    yaml.dump(data, stream)
    return stream.getvalue()


def flowing(values: object) -> object:
    """Mark all lists within mappings and lists to be written on one line."""
    if isinstance(values, dict):
        return {name: flowing(item) for name, item in values.items()}
    if not isinstance(values, list):
        return values
    sequence = CommentedSeq([flowing(item) for item in values])
    sequence.fa.set_flow_style()
    return sequence
