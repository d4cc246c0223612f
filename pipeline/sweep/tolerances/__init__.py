"""Tolerances of parameters: deviations that every design is computed under."""
