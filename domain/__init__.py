"""The core: events, their catalog, keys, limits and errors. No I/O, no clock, no randomness."""
