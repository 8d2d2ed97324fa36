"""Transports: decode, call one use case, translate the outcome, encode."""
