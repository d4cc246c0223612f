# ruff: noqa: E501 - a row of a table is a line
"""Rows of section C on orientations and turns of platforms in a sweep file."""

from __future__ import annotations

from tests.bad_inputs.rows import GOOD, Row

TEXT = """\
limbsweep: 1
robot: gough_stewart
trajectories:
  swing: {kind: circle, turn: {kind: harmonic, TURN}}
time: {stop: 1.0, step: 0.1}
metrics: [peak_force]
"""
DRAWN = "  swing: {kind: random_fourier, seed: 1, position: 0.1, turn: {position: 0.1}}\n"


def turned(name: str, turn: str, *said: str) -> Row:
    """A turn that is wrong."""
    return Row(name, said, TEXT.replace("TURN", turn))


def oriented(name: str, orientation: str, *said: str) -> Row:
    """An orientation that is wrong."""
    return turned(name, f"orientation: {{{orientation}}}", *said)


def drawn(name: str, old: str, new: str, *said: str) -> Row:
    """A random motion whose turn is wrong."""
    lines = TEXT.splitlines(keepends=True)
    assert old in DRAWN
    return Row(name, said, "".join([*lines[:3], DRAWN.replace(old, new), *lines[4:]]))


ROWS = (
    oriented("C25", "quaternion: [0, 0, 0, 0]", "orientation.quaternion: got a quaternion of length 0; expected length 1"),
    oriented("C25 long", "quaternion: [1, 0.1, 0, 0]", "4:74 trajectories.swing.turn", "length 1.00499", "w, x, y, z"),
    oriented("C25 short", "quaternion: [1, 0, 0]", "quaternion: got [1, 0, 0]; expected a list of 4 numbers"),
    oriented("C26", "matrix: [[1, 0, 0], [0, 1, 0], [0, 0, -1]]", "matrix: got a matrix with determinant -1; expected a"),
    oriented("C26 skewed", "matrix: [[1, 0, 0], [0.1, 1, 0], [0, 0, 1]]", "rows that are 0.1 off", "a rotation within"),
    oriented("C26 rows", "matrix: [[1, 0, 0], [0, 1, 0]]", "expected a list of 3 rows of 3 numbers"),
    oriented("C26 row", "matrix: [[1, 0, 0], [0, 1], [0, 0, 1]]", "matrix[1]: got [0, 1]; expected a list of 3 numbers"),
    oriented("C27", "euler: [0.1, 0, 0]", "orientation: got no order; expected order, one of xyx, xyz"),
    oriented("C27 unknown", "euler: [0.1, 0, 0], order: xxz", "order: got 'xxz'; expected order, one of xyx, xyz"),
    oriented("C27 mixed", "euler: [0.1, 0, 0], order: xYz", "order: got 'xYz'", "or in capitals about turned ones"),
    oriented("C14 euler", "euler: [90, 0, 0], order: xyz", "euler[0]: got 90.0", "If these are degrees, write 1.5708."),
    oriented("C27 two", "euler: [0, 0, 0], quaternion: [1, 0, 0, 0]", "got quaternion and euler; expected one of"),
    oriented("C27 none", "order: xyz", "got no orientation; expected one of quaternion, matrix and euler"),
    oriented("C27 key", "eular: [0, 0, 0]", "orientation.eular: got an unknown key; expected a known key. Did you mean 'euler'"),
    turned("C27 text", "orientation: xyz", "orientation: got 'xyz'; expected a mapping with quaternion, matrix"),
    turned("C01 turn", "amplitud: [0, 0, 0]", "turn.amplitud: got an unknown key", "Did you mean 'amplitude'?"),
    turned("C14 turn", "amplitude: [30, 0, 0]", "amplitude[0]: got 30", "If these are degrees, write 0.523599."),
    Row("C33 turn", ("turn.kind: got 'circle'; expected a kind of turn of a platform. Known: constant",),
        TEXT.replace("harmonic, TURN", "circle")),
    Row("C04 turn", ("turn: got no kind; expected a mapping with kind",), TEXT.replace("kind: harmonic, TURN", "")),
    Row("C04 text", ("turn: got 'round'; expected a mapping with kind",), TEXT.replace("{kind: harmonic, TURN}", "round")),
    Row("C33 held", ("circle.turn: got a turn; expected no turn: the platform of this robot only translates. Remove it.",),
        GOOD.replace("turn: {kind: circle, phase: 1}", "circle: {kind: circle, turn: {kind: constant}}")),
    drawn("C02 turn", "turn: {position: 0.1}", "turn: {velocity: 1}", "turn: got nothing; expected position, the largest distance from the centre"),
    drawn("C01 drawn", "turn: {position: 0.1}", "turn: {position: 0.1, seed: 3}", "turn.seed: got an unknown key"),
    drawn("C05 drawn", "turn: {position: 0.1}", "turn: {position: -0.1}", "turn.position: got -0.1; expected a number above zero"),
    drawn("C04 drawn", "turn: {position: 0.1}", "turn: 0.1", "turn: got 0.1; expected a mapping with position"),
)  # fmt: skip
