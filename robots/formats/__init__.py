"""Robots as files: descriptions of families as plain data, written as YAML, and imported from URDF.

`description` says what a file holds and makes a family of it; `writing` gives its text; `checks` finds what makes no
sense in it; `urdf` reads a tree of another format. Reading YAML, with the place of every mistake, is in
`pipeline.robot_files.reader`.
"""
