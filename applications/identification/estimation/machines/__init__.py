"""Identification from recordings of real machines: preparation, checks, columns of the model, deviations, fits.

`preparation` turns recorded signals into motions and forces; `checks` finds errors in them; `model` has the columns
beside those of bodies; `residuals` judges how far deviations can be trusted; `fitting` combines these modules.
"""
