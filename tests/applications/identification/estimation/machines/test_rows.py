from __future__ import annotations

import numpy as np

from applications.identification.estimation.machines.run import slope


def test_rates_of_rows_are_those_of_the_series_between_them() -> None:
    step, numbers = 0.01, np.array([0, 6, 12, 18, 24, 30, 39])
    time = np.arange(40) * step
    series = np.stack([np.sin(20.0 * time), np.cos(20.0 * time)], axis=1)
    rates = slope(series, numbers, step)
    exact = 20.0 * np.stack([np.cos(20.0 * time), -np.sin(20.0 * time)], axis=1)[numbers]
    np.testing.assert_allclose(rates[1:-1], exact[1:-1], atol=0.01 * 20.0)
    np.testing.assert_allclose(rates[[0, -1]], exact[[0, -1]], atol=0.15 * 20.0)
    rough = np.gradient(series[numbers], time[numbers], axis=0)
    assert np.abs(rough - exact)[1:-1].max() > 0.1 * 20.0
