"""Identification from recordings of real machines: preparation, checks, columns of the model, deviations, fits.

`preparation` turns recorded signals into motions and forces; `checks` finds what is wrong with them; `model` has the
columns beside those of bodies; `residuals` says how far deviations can be trusted; `fitting` brings them together.
"""
