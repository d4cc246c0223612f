"""What is wrong with a recording: found before anything is estimated, each finding with its recording and actuator.

`series` looks at the signals as they are, `hypotheses` at what they say together. Findings that are errors stop an
identification, unless a user accepts their kind.
"""
