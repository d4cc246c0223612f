"""What criteria of design take beside a robot and its motion: elasticity of its parts, capsules around its links."""
