"""Metrics of actuators and poses, and margins to limits."""
