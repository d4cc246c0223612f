"""Where a robot file says what is in its mechanism: paths of keys for findings about limbs made of its own."""

from __future__ import annotations

from pipeline.documents.yaml import KeyPath
from robots.coupled import COORDINATES, CoupledPlatform
from robots.model import Mechanism

_OF = {"links": 0, "loops": 1}


class Places:
    """Paths in the file of limbs, and of links and cut joints of the closed chain of a platform."""

    def __init__(self, template: Mechanism, platform: CoupledPlatform | None, limbs: Mechanism | None = None) -> None:
        self.names = [limb.name for limb in template.limbs]
        self.lists: tuple[list[KeyPath], list[KeyPath]] | None = None
        if platform is None or limbs is None:
            return
        links: list[KeyPath] = [("base", "links", k) for k in range(len(platform.carriers))]
        links += [("platform",)] * len(COORDINATES)
        links += [("platform", "links", k) for k in range(len(platform.links))]
        loops: list[KeyPath] = [("platform", "loops", k) for k in range(len(platform.joined))]
        for instance in limbs.instances:
            limb = limbs.limbs[instance.limb]
            path = ("limbs", self.limb(limb.name))
            links += [(*path, "links", k) for k in range(len(limb.links))]
            for key, cuts in (("tips", limb.tips), ("loops", limb.loops)):
                loops += [(*path, key, k) for k in range(len(cuts))]
        self.lists = links, loops

    def limb(self, name: str) -> str:
        """The name in the file of a limb; that of a variant begins with it."""
        if name in self.names:
            return name
        return max((known for known in self.names if name.startswith(f"{known}_")), key=len, default=name)

    def of(self, path: KeyPath) -> KeyPath:
        """The path in the file of a path in the mechanism."""
        if path[:1] != ("limbs",) or len(path) < 2:
            return path
        if self.lists is not None and len(path) > 3 and path[2] in _OF:
            return (*self.lists[_OF[str(path[2])]][int(path[3])], *path[4:])
        return ("limbs", self.limb(str(path[1])), *path[2:])
