"""Other engines at the same jobs: same mechanisms, same samples, same run; results are compared first, then timed.

`bodies` describes a mechanism in plain numbers, from which `pinocchio`, `mujoco`, `drake` and `exudyn` make models, and
`closure` adds the closed loops of a batch, which these engines lack; `compiled` is Pinocchio compiled here. `engines`
lists the abilities of engines; `trees`, `loops`, `designs` and `sets` are the jobs, each a `contest`; `table` is all of
them.
"""
