"""Kinds of devices that compute."""

from typing import Literal

Device = Literal["cpu", "gpu"]
"""Kind of device that computes: processors or graphics cards. No bit depends on it."""
CPU: Device = "cpu"
GPU: Device = "gpu"
