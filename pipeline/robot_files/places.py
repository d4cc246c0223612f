"""Where a robot file says what is in its mechanism: paths of keys for findings about a chain that it was closed to."""

from __future__ import annotations

from pipeline.documents.yaml import KeyPath
from robots.coupled import COORDINATES, CoupledPlatform
from robots.model import Mechanism

_OF = {"links": 0, "loops": 1}


class Places:
    """Paths in the file of links and cut joints of the closed chain of a platform whose coordinates follow."""

    def __init__(self, limbs: Mechanism, platform: CoupledPlatform | None) -> None:
        self.lists: tuple[list[KeyPath], list[KeyPath]] | None = None
        if platform is None:
            return
        links: list[KeyPath] = [("platform",)] * len(COORDINATES)
        links += [("platform", "links", k) for k in range(len(platform.links))]
        loops: list[KeyPath] = [("platform", "loops", k) for k in range(len(platform.joined))]
        for instance in limbs.instances:
            limb = limbs.limbs[instance.limb]
            links += [("limbs", limb.name, "links", k) for k in range(len(limb.links))]
            for key, cuts in (("tips", limb.tips), ("loops", limb.loops)):
                loops += [("limbs", limb.name, key, k) for k in range(len(cuts))]
        self.lists = links, loops

    def of(self, path: KeyPath) -> KeyPath:
        """The path in the file of a path in the mechanism, which is the same but for a closed chain."""
        if self.lists is None or path[:1] != ("limbs",) or len(path) < 4 or path[2] not in _OF:
            return path
        return (*self.lists[_OF[str(path[2])]][int(path[3])], *path[4:])
