"""Random URDF trees: all kinds of joints, axes and origins in any direction, fixed links, links without mass."""

from __future__ import annotations

import numpy as np


def numbers(values: object) -> str:
    """Numbers of an attribute, with all their bits."""
    return " ".join(repr(float(x)) for x in np.ravel(np.asarray(values)))


def inertial(rng: np.random.Generator) -> str:
    """The inertia of three random points, and so of a body."""
    points = rng.normal(size=(8, 3)) * 0.1
    tensor = sum(np.dot(p, p) * np.eye(3) - np.outer(p, p) for p in points) * rng.uniform(0.1, 1.0)
    names = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    values = tensor[np.triu_indices(3)].tolist()
    entries = " ".join(f'{name}="{value!r}"' for name, value in zip(names, values, strict=True))
    place = f'<origin xyz="{numbers(rng.normal(size=3) * 0.2)}" rpy="{numbers(rng.uniform(-3, 3, 3))}"/>'
    return f'<inertial>{place}<mass value="{rng.uniform(0.1, 5.0)!r}"/><inertia {entries}/></inertial>'


def tree(seed: int, moving: int = 6) -> str:
    """A tree with `moving` joints that move, and about half as many fixed ones."""
    rng = np.random.default_rng(seed)
    links, joints, kinds = ['<link name="base"/>'], [], ["revolute", "continuous", "prismatic"] * moving
    plan = [*kinds[:moving], *["fixed"] * (moving // 2)]
    rng.shuffle(plan)
    if plan[-1] == "fixed":
        plan = [*plan, "revolute"]
    for k, kind in enumerate(plan):
        parent = "base" if k == 0 else f"link_{rng.integers(max(0, k - 3), k)}"
        massless = kind == "fixed" and rng.random() < 0.3
        links.append(f'<link name="link_{k}">{"" if massless else inertial(rng)}</link>')
        axis = rng.normal(size=3)
        axis = np.eye(3)[rng.integers(3)] * rng.choice([-1, 1]) if rng.random() < 0.3 else axis / np.linalg.norm(axis)
        limit = '<limit lower="-1" upper="1" effort="10" velocity="1"/>' if kind in ("revolute", "prismatic") else ""
        joints.append(
            f'<joint name="joint_{k}" type="{kind}"><parent link="{parent}"/><child link="link_{k}"/>'
            f'<origin xyz="{numbers(rng.normal(size=3) * 0.3)}" rpy="{numbers(rng.uniform(-3, 3, 3))}"/>'
            f'<axis xyz="{numbers(axis)}"/>{limit}</joint>'
        )
    return f'<?xml version="1.0"?>\n<robot name="tree_{seed}">\n' + "\n".join([*links, *joints]) + "\n</robot>\n"
