"""Export of results as tables, and of equations as C, CasADi functions and FMUs."""
