"""What limbsweep costs, side by side with what it is compared to; a time is printed only for a result that is right.

`limbsweep bench` runs the table of `benchmarks.cases`. Nothing else may import this package.
"""
