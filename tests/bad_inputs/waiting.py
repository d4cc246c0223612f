"""Rows of the list of bad inputs without a test here: what they are about is not there, or is tested elsewhere."""

from __future__ import annotations

_ROTATIONS = "motions with rotations are not in sweep files"
_NO_LIMITS = "robot files have no limits of joints, legs or motors"
_OTHER_CLUSTERS = "this kind of cluster cannot be started"

WAITING = {
    "C26": _ROTATIONS,
    "C27": _ROTATIONS,
    "C37": "free space is the concern of the run, not of check",
    "D02": "bodies without mass join two joints in many robots",
    "D06": "a file has moments and products, so every tensor is symmetric",
    "D12": "accepted with a warning, and a file is written: tests/pipeline/test_robot_import.py",
    "D15": _NO_LIMITS,
    "D25": "singular poses are a status of the samples there",
    "D27": "the freedoms of a limb are decided by rank when it is first computed, with a message of its own",
    "D31": _NO_LIMITS,
    "D33": "robot files name no meshes, and those of URDF files are passed over",
    "D35": "there are no payloads: they are the mass of the platform",
    "D32": "a gear ratio of 0 is allowed: it leaves the inertia of the rotor out",
    **dict.fromkeys(["F05", "F06", "F07", *(f"F{n}" for n in range(13, 20)), "F22", "F23", "F25"], _OTHER_CLUSTERS),
    "F24": "needs two environments: tests/pipeline/test_provenance.py has the rule",
    "G06": "needs a store of a run: tests/pipeline/test_resume.py",
    "G07": "needs a run that goes on: tests/storage/test_lock.py",
    "G11": "links are followed to where the user may write anyway",
    "G13": "names of a sweep are no names of files, so case does not clash",
    "G14": "stores are local folders",
    "G17": "needs a pipe: tests/pipeline/test_cli.py",
    "G18": "needs a process of its own: test_other_locales.py",
    "G19": "needs a file system that is read-only: tests/storage",
    "G20": "nothing is done that root should not do",
}
