"""Processes beside the coordinator: children, the queue of submitted runs, signals of the system, and cases apart."""
