"""Benchmark of identification on parallel robots: recordings of machines with known parameters, and hidden forces.

`python -m benchmarks.parallel make FOLDER` writes recordings for everybody and a folder `hidden`; `solve` answers with
limbsweep and with a plain script; `score` compares answers with the hidden forces. `benchmark.yaml` has all settings.
"""
