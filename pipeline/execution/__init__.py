"""Runs of a plan: block graphs, the run loop, executors, retries, isolation."""
