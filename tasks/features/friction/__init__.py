"""Friction in joints: laws with and without a state, normal loads, and the effect of friction on actuators.

`laws` has a row of mathematics for each law; `history` follows laws with a state along given motions; `inputs` reads
friction as callers give it; `joints` applies laws to the joints of a robot; `load_iteration` solves for friction that
depends on the loads it causes.
"""
