"""Friction laws as data, and groups of joints that share one."""
