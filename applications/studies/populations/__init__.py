"""Search over whole populations of designs: the space, methods that ask for designs, and generations in a store.

- `asking`: records that all methods share; `genes`: the numbers by which they propose designs
- `evolution`: NSGA-II and NSGA-III by pymoo; `processes`: Gaussian processes by scikit-learn; `parzen`: tree-structured
  Parzen estimators by Optuna; `methods`: the table of these and of random designs
- `space`: designs of several robots, of which the robot is a category; objectives and violations of designs of a store
- `generations`: designs that are computed as blocks on a cluster and appended to a store
- `search`: the loop over these, which goes on where stores end; `polish`: its last step
"""
