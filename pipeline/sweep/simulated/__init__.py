"""The section `simulation` of a sweep file: controllers and forces, axes of gains and of initial states."""
