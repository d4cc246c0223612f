"""Verbs with which the docstring of a function may begin, in the imperative."""

from __future__ import annotations

_WORDS = """
Accept Add Adjust Advance Align Allocate Allow Analyse Annotate Answer Append Apply Approximate Arrange Ask Assemble
Assign Attach Become Begin Bind Bring Build Calibrate Call Cancel Cast Centre Change Check Choose Classify Clean Clear
Clip Close Collect Combine Compare Compile Complete Compose Compress Compute Connect Continue Convert Copy Correct Count
Cover Create Cut Decide Declare Decode Decorate Decrease Define Delay Delete Derive Describe Detect Determine
Differentiate Divide Do Draw Drive Drop Emit Encode End Ensure Enter Enumerate Escape Estimate Evaluate Exchange Exclude
Execute Exit Expand Export Extend Extract Extrapolate Factorise Fail Fetch Fill Filter Find Finish Fit Flatten Flip
Follow Forbid Force Forget Format Forward Fuzz Gather Generate Get Give Go Group Guess Halve Hand Hide Hold Identify
Ignore Import Improve Include Index Initialise Insert Install Integrate Interpolate Invert Isolate Iterate Join Judge
Keep Kill Label Launch Leave Let Limit List Listen Load Locate Lock Look Lower Make Map Mark Match Measure Mend Merge
Minimise Mirror Mount Move Multiply Name Normalise Note Notify Number Offer Open Optimise Order Pack Pad Parse Pass
Pickle Place Plan Plot Predict Prefix Prepare Preview Print Project Propagate Prove Publish Push Put Raise Rank Read
Receive Recompute Record Recover Reduce Refine Refuse Register Regularise Release Remember Remove Rename Render Reorder
Repair Repeat Replace Replay Report Require Reserve Reset Resolve Restart Restore Restrict Resume Retry Return Reverse
Rewrite Rotate Round Run Save Say Schedule Search See Select Send Separate Serve Set Shift Show Shuffle Sign Simplify
Simulate Skip Solve Sort Speed Spell Split Spread Stack Start Stop Store Strip Submit Subtract Summarise Summarize Swap
Sweep Switch Take Tell Test Time Trace Transform Translate Transpose Trim Try Turn Unite Unlock Unpack Update Use
Validate Vary Verify Visit Wait Walk Warn Weigh Widen Withdraw Wrap Write Yield
"""
VERBS = frozenset(_WORDS.split())
