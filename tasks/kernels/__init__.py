"""From NumPy code for one sample to SIMD code for millions: trace, interpret, compile.

`expression` records arithmetic as a graph; `program` orders it into straight-line regions; `interpreter` runs a program
in NumPy, `llvm` compiles it; `kernel` is the interface for the rest of `tasks`.
"""
