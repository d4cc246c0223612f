"""Events of a run, their listeners, and cancellation."""
