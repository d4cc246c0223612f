"""A robot file of two links for tests."""

from __future__ import annotations

ARM = """\
limbsweep: 1
name: arm
parameters: {length: {default: 0.5, unit: m, lower: 0.1, upper: 2}}
derived: {half: length / 2}
limbs:
  arm:
    links:
      - {joint: shoulder, body: upper, parent: base, kind: revolute, axis: z, \
inertia: {mass: 2, centre: [half, 0, 0], moments: [0, 0.1, 0.1]}}
      - {joint: elbow, body: lower, parent: upper, kind: revolute, axis: -y, \
placement: {position: [length, 0, 0]}, inertia: {mass: 1}}
    actuated: [shoulder, elbow]
"""
