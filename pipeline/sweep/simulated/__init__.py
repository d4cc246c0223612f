"""The section `simulation` of a sweep file: what drives the robot, the axes of gains and of initial states."""
