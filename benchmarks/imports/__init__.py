"""Imports of robots that others wrote: accepted or refused and why, and their inverse dynamics beside other engines.

    python -m benchmarks.imports            # all files of the packages in the extra `models` that are installed
    python -m benchmarks.imports a.urdf     # these files

Files are read from the packages where they are installed; nothing of them is in this repository. URDF files are held to
Pinocchio's own reader or to MuJoCo's, MJCF files to MuJoCo, SDF files to Drake, at random states. A file whose inertias
no body has is imported with repair, and compared without: the other engines have no repair.
"""
