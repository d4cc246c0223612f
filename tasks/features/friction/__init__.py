"""Friction in joints: laws with and without a state, normal loads, and the effect of friction on actuators.

`laws` has a row of mathematics for each law; `states` follows those with a state along motions, `forward` all of them
in forward dynamics; `given` is friction as callers give it; `joints` brings it to the joints of a robot.
"""
