"""Benchmarks: hot paths against a peer or the raw engine, side by side in one run."""
