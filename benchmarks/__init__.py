"""What limbsweep costs, measured side by side with what it is compared to, each result checked before its time is printed.

`limbsweep bench` runs the table of `benchmarks.cases`. Nothing else may import this package.
"""
