"""Other engines at the same jobs: same mechanisms, same samples, same run; results are compared first, then timed.

`bodies` describes a mechanism in plain numbers, from which `pinocchio`, `mujoco`, `drake` and `exudyn` make their models;
`closure` is what none of them has, the closed loops of a batch; `ours` runs the kernels; `table` lists who does what.
"""
