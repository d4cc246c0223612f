"""Search over whole populations of designs: the space, methods that ask for designs, and generations in a store.

- `space`: what a design may be: continuous parameters, whole numbers of steps, rows of a table that go together
- `methods`: NSGA-II and NSGA-III by pymoo, tree-structured Parzen estimators by Optuna, random samples; ask and tell
- `values`: objectives and violations of conditions of some designs of a store
- `generations`: designs that are computed as blocks on a cluster and appended to a store
- `state`: the loop over these, which goes on where stores end; `search`: of one robot
- `families`, `family_search`: several robots, of which the robot is a category
"""
