from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pipeline.report.numbers import explained, front

SMALL = st.integers(0, 6).map(float) | st.just(float("nan"))


@given(st.lists(st.tuples(SMALL, SMALL), max_size=40))
def test_a_front_is_what_none_beats(points: list[tuple[float, float]]) -> None:
    table = np.array(points, float).reshape(-1, 2)
    found = front(*table.T)

    def beaten(p: np.ndarray) -> bool:
        return any((q <= p).all() and (q < p).any() for q in table)

    expected = {k for k, p in enumerate(table) if np.isfinite(p).all() and not beaten(p)}
    assert set(found.tolist()) == expected
    assert (np.diff(table[found, 0]) >= 0).all()


def test_shares_of_the_ishigami_function() -> None:
    x = np.random.default_rng(1).uniform(-np.pi, np.pi, (3, 200_000))
    y = np.sin(x[0]) + 7.0 * np.sin(x[1]) ** 2 + 0.1 * x[2] ** 4 * np.sin(x[0])
    # first-order indices in closed form; classes of a parameter leave the variance within a class unexplained
    np.testing.assert_allclose([explained(each, y) for each in x], [0.3139, 0.4424, 0.0], atol=0.01)


def test_a_grid_is_explained_exactly() -> None:
    a, b = (each.ravel().astype(float) for each in np.meshgrid(np.arange(4), np.arange(50), indexing="ij"))
    assert explained(a, a**2) == 1.0
    assert explained(b, a**2) == 0.0


def test_what_does_not_vary_has_no_share() -> None:
    assert np.isnan(explained(np.arange(10.0), np.full(10, 0.1)))
    assert np.isnan(explained(np.arange(3.0), np.arange(3.0)))
