"""Cost of gradients, and derivatives of metrics against complex steps."""
