"""What criteria of design take beside a robot and its motion: elasticity and errors of parts, capsules around links."""
