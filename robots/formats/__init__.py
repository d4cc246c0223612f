"""Robots as files: descriptions of families as plain data, written as YAML, and imported from URDF.

`description` holds the content of a file and makes a family of it; `writing` gives its text; `checks` finds physically
impossible content; `urdf` reads a tree of another format. Reading YAML, with the place of every mistake, is in
`pipeline.robot_files.reader`.
"""
