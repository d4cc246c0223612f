"""Motions along paths: shapes, forces of actuators, and the shortest time that limits allow."""
