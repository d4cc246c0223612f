"""From a sweep to its plan: blocks, what each holds, bytes to store, memory of a task, expected time."""
