"""Motions along paths: their shape, what they ask of actuators, and the shortest time that limits allow."""
