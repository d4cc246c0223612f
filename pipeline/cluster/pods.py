"""Resource that the operator of dask-kubernetes is given, with the entries of the section `pods` of a cluster file."""

from __future__ import annotations

import getpass
import uuid
from collections.abc import Mapping
from typing import Any

from pipeline.cluster.checks import Pods


def complete(resource: dict[str, Any], pods: Pods) -> None:
    """Add the entries of a section to a DaskCluster resource, and the size of its scheduler."""
    for role in ("scheduler", "worker"):
        _complete(resource["spec"][role]["spec"], pods)
    size = pods.scheduler_resources.model_dump(exclude_defaults=True)
    resource["spec"]["scheduler"]["spec"]["containers"][0]["resources"] = size


def _complete(pod: dict[str, Any], pods: Pods) -> None:
    """Add volumes to a pod, and their mounts and variables to its container."""
    entries: Mapping[str, Any] = {"volumeMounts": pods.volume_mounts, "envFrom": pods.env_from}
    pod |= {"volumes": list(pods.volumes)} if pods.volumes else {}
    pod["containers"][0] |= {key: list(value) for key, value in entries.items() if value}


def cluster_name() -> str:
    """Return the name of a new cluster by the setting of dask-kubernetes."""
    import dask.config

    template: str = dask.config.get("kubernetes.name", "dask-{user}-{uuid}")
    return template.format(user=getpass.getuser(), uuid=str(uuid.uuid4())[:10])
