"""Workspaces: where conditions hold, its volume and boundary by refined cells, and the largest regular part of it."""
