"""Public functions on arrays of states: kinematics, dynamics, reactions, equations of motion."""
