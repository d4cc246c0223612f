"""Sweep -> plan -> graph -> cluster -> run, and the command line."""
