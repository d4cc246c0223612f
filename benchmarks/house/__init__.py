"""The house: figures of the sources themselves, before and after, and the bits that no change of them may touch.

`python -m benchmarks.house` prints a table of figures from the sources of any checkout (`sources`, `imports`,
`extensions`), with `--trace` also the modules that a value passes through in a run (`route`). `same_bits` makes the
example sweeps and compares a hash of each store. These modules import our packages only after their path is known.
"""
