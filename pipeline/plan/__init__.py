"""From a sweep to its plan: blocks and their content, bytes to store, memory of a task, expected time."""
