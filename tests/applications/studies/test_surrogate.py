"""Surrogates: exact covariances, gradients, files, held-out errors on a made-up store, and refusals."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
import xarray as xr

import limbsweep as ls
from applications.studies import gradient_process
from applications.studies.gradient_process import GradientProcess, ProcessScales, covariances
from applications.studies.surrogate import Surrogate, surrogate
from pipeline.errors import InputError

COUNT = 80


def results(*, derivatives: bool = True, failed: int = 0) -> xr.Dataset:
    """Return results of designs with a metric of two actuators, of which the larger counts."""
    rng = np.random.default_rng(3)
    a, b = rng.uniform(0.2, 0.3, COUNT), rng.uniform(1.0, 2.0, COUNT)
    force = np.stack([np.exp(5.0 * a) * b, 0.5 * a * b], axis=1)[:, None, None]
    slopes = np.stack([np.exp(5.0 * a) * b * 5.0, np.exp(5.0 * a)], axis=1)
    others = np.stack([0.5 * b, 0.5 * a], axis=1)
    dims = ("design", "friction", "trajectory", "actuator")
    variables: dict[str, Any] = {"peak_force": (dims, force)}
    if derivatives:
        both = np.stack([slopes, others], axis=1)[:, None, None]
        variables["peak_force_derivative"] = ((*dims, "parameter"), both)
    variables["failed_samples"] = (
        dims[:3],
        np.arange(COUNT)[:, None, None] * 0 + (np.arange(COUNT) < failed)[:, None, None],
    )
    coords = {"arm": ("design", a), "mass": ("design", b), "parameter": ["arm", "mass"], "fixed": ("design", 0.0 * a)}
    return xr.Dataset(variables, coords)


def test_covariances_are_derivatives_of_one_kernel() -> None:
    rng = np.random.default_rng(1)
    first, second, lengths = rng.uniform(size=(2, 3)), rng.uniform(size=(4, 3)), np.array([0.5, 1.0, 2.0])
    whole, step = covariances(first, second, lengths), 1e-5
    for k in range(3):
        ends = [covariances(first + s * step * np.eye(3)[k], second, lengths) for s in (1, -1)]
        slopes = (ends[0][:2] - ends[1][:2]) / (2.0 * step)  # of values, by the first set
        np.testing.assert_allclose(whole[2 + k :: 3], slopes, rtol=1e-6, atol=1e-7)


def test_gradients_help_and_are_those_of_the_mean() -> None:
    rng = np.random.default_rng(2)
    points, inputs = rng.uniform(size=(15, 2)), rng.uniform(size=(200, 2))

    def wave(x: np.ndarray) -> np.ndarray:
        return np.asarray(np.sin(3.0 * x[:, 0]) * np.exp(x[:, 1]))

    slopes = np.stack([3.0 * np.cos(3.0 * points[:, 0]), np.sin(3.0 * points[:, 0])], axis=1)
    slopes *= np.exp(points[:, 1:])
    errors = []
    for known in (slopes, np.full_like(slopes, np.nan)):
        process = GradientProcess.fit(points, wave(points), known, 200)
        errors.append(np.abs(process.value(inputs) - wave(inputs)).max())
        away = 1e-5 * np.eye(2)
        expected = [(process.value(inputs + h) - process.value(inputs - h)) / 2e-5 for h in away]
        np.testing.assert_allclose(process.gradient(inputs), np.stack(expected, axis=1), rtol=1e-4, atol=1e-4)
        assert process.deviation(points).max() < 0.2 * process.deviation(inputs).max()
    assert errors[0] < 0.5 * errors[1]


@pytest.mark.parametrize("text", ["peak_force", "peak_force / mass", "max peak_force"])
def test_a_store_with_derivatives(text: str) -> None:
    ds = results(failed=3)
    model = surrogate(ds, text, points=20)
    assert model.names == ("arm", "mass")
    error = model.columns[0].error
    assert error.share < 0.01
    assert error.gradient < 0.05
    assert error.count == COUNT - 3 - 20
    assert model.columns[0].slopes == 40
    here: dict[str, Any] = {"arm": [0.25, 0.22], "mass": 1.5}
    exact = np.exp(5.0 * np.array([0.25, 0.22])) * (1.0 if "mass" in text else 1.5)
    name = "peak_force" if text == "max peak_force" else text
    np.testing.assert_allclose(model(here)[text], exact, rtol=1e-2)
    assert name in model.columns[0].text
    by_arm = model.gradient(here)[text][:, 0]
    np.testing.assert_allclose(by_arm, 5.0 * exact, rtol=0.05)
    assert np.isnan(model({"arm": 0.5, "mass": 1.5})[text])
    assert (model.deviation(here)[text] < 0.05 * exact).all()


def test_chunks_and_threads_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    points, inputs = rng.uniform(size=(15, 2)), rng.uniform(size=(500, 2))
    process = GradientProcess.fit(points, points.sum(axis=1), np.full_like(points, 1.0), 200)
    whole = process.value(inputs)
    both = np.concatenate([process.weights, process.slopes.ravel()])
    expected = covariances(inputs, points, process.scales.lengths)[: len(inputs)] @ both
    np.testing.assert_allclose(whole, expected, atol=1e-9 * np.abs(both).max())
    monkeypatch.setattr(gradient_process, "CHUNK", 64 * 15)
    monkeypatch.setattr(gradient_process, "MANY", 2)
    np.testing.assert_allclose(process.value(inputs), whole, rtol=1e-13)
    assert process.value(inputs[:0]).shape == (0,)


def test_a_store_without_derivatives_and_a_file(tmp_path: Path) -> None:
    model = surrogate(results(derivatives=False), ["peak_force", "mass"], ["arm < 0.29"])
    assert model.columns[0].slopes == 0
    assert np.isnan(model.columns[0].error.gradient)
    assert model.high[0] < 0.29
    path = tmp_path / "s.npz"
    model.save(path)
    again = Surrogate.load(path)
    designs = np.array([[0.25, 1.2], [0.22, 1.9]])
    for one, other in ((model(designs), again(designs)), (model.gradient(designs), again.gradient(designs))):
        assert {name: x.tolist() for name, x in one.items()} == {name: x.tolist() for name, x in other.items()}
    with pytest.raises(InputError, match=r"which exists already; expected a new file"):
        surrogate(results(), "mass").save(path)
    before = path.read_bytes()
    with pytest.raises(TypeError, match="not JSON serializable"):  # nothing is written, and nothing lost
        replace(model, source=cast(str, object())).save(path, force=True)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
    surrogate(results(), "mass").save(path, force=True)
    assert [column.text for column in Surrogate.load(path).columns] == ["mass"]
    path.write_bytes(b"nothing")
    with pytest.raises(InputError, match=r"surrogate: got .*expected a file that `limbsweep study surrogate` wrote"):
        Surrogate.load(path)


def test_rows_of_a_list_and_of_a_file_are_told(tmp_path: Path) -> None:
    ds, path = results(), tmp_path / "s.npz"
    for design, tabled in (
        ("{grid: {arm: {}, mass: {}}}", ()),
        ("{list: {arm: [], mass: []}}", ("arm", "mass")),
        ("{sample: {parameters: {mass: {}}}, file: arms.csv}", ("arm",)),
    ):
        ds.attrs["sweep"] = f"limbsweep: 1\nrobot: delta_3rr2rrr\ndesign: {design}\n"
        model = surrogate(ds, "peak_force")
        assert model.tabled == tabled, design
        model.save(path, force=True)
        assert Surrogate.load(path).tabled == tabled


def test_a_number_that_conditions_hold_is_no_input() -> None:
    ds = results()
    ds = ds.assign_coords(mass=("design", np.where(np.arange(COUNT) < 30, 1.5, ds["mass"].values)))
    model = surrogate(ds, "arm", ["mass == 1.5"])
    assert model.names == ("arm",)
    assert np.isfinite(model([0.25])["arm"])
    with pytest.raises(InputError, match="0 designs without failed samples that vary"):
        surrogate(ds, "arm", ["mass == 1.5", f"arm == {float(ds['arm'][0])!r}"])


def test_refusals() -> None:
    ds = results()
    with pytest.raises(InputError, match="peak_forc: got no such column"):
        surrogate(ds, "peak_forc")
    with pytest.raises(InputError, match="0 designs without failed samples that vary; expected 8 or more"):
        surrogate(ds, "peak_force", ["arm > 1"])
    with pytest.raises(InputError, match=r"held_out: got 1\.5; expected a share"):
        surrogate(ds, "peak_force", held_out=1.5)
    model = surrogate(ds, "mass")
    with pytest.raises(InputError, match="designs: got arm; expected numbers of arm, mass"):
        model({"arm": 0.2})
    with pytest.raises(InputError, match=r"an array of shape \(3,\); expected \(\*batch, 2\): arm, mass"):
        model([0.2, 0.3, 0.4])


def test_modules_of_torch() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch (extra torch) is missing")
    model = surrogate(results(), ["peak_force", "mass"], points=20)
    module = ls.torch.surrogate(model)
    designs = torch.tensor([[0.25, 1.2], [0.22, 1.9]], dtype=torch.float64, requires_grad=True)
    values = module(designs)
    np.testing.assert_allclose(values.detach(), model(designs.detach().numpy())["peak_force"], rtol=1e-9)
    (slopes,) = torch.autograd.grad(values.sum(), designs)
    np.testing.assert_allclose(slopes, model.gradient(designs.detach().numpy())["peak_force"], rtol=1e-6)
    assert torch.autograd.gradcheck(module, (designs,))
    single = module.to(torch.float32)(designs.detach().float())
    np.testing.assert_allclose(single, values.detach(), rtol=2e-2)
    with pytest.raises(ValueError, match=r"of torch.float64 on cpu; expected \(\*batch, 2\) of torch.float32 on cpu"):
        module(designs)
    with pytest.raises(ValueError, match="column: got 'mas'; expected peak_force, mass"):
        ls.torch.surrogate(model, "mas")


def test_a_smooth_function_at_points_close_together_is_fitted(monkeypatch: pytest.MonkeyPatch) -> None:
    found = ProcessScales(np.array([50.0, 50.0]), 1e-7, 1e-7)  # of some points, that lie farther apart
    monkeypatch.setattr("applications.studies.gradient_process._likeliest", lambda *_: found)
    grid = np.stack(np.meshgrid(np.linspace(0.0, 1.0, 40), np.linspace(0.0, 1.0, 30)), axis=-1).reshape(-1, 2)
    values = np.exp(grid @ [0.7, -0.4])
    values = (values - values.mean()) / values.std()
    process = GradientProcess.fit(grid, values, np.full(grid.shape, np.nan), 100)
    assert np.abs(process.value(grid) - values).max() < 1e-3
    assert found.noise < process.scales.noise < 1e-3
