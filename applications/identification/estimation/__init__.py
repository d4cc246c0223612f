"""Parameter identification: regressors, base parameters, excitation, measurements, and estimators.

`columns` names the parameters in which inverse dynamics is linear, `programs` and `regressor` compute their factors;
`base` finds which combinations can be told apart, `energy` counts them in another way; `states` draws motions for that.
"""
