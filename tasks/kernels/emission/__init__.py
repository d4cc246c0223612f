"""Programs as text of LLVM: `emitter` writes it, with the types and constants of `formats`."""
