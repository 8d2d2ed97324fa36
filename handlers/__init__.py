"""Two floors: use cases on the ground, entry points on top, `bootstrap` between them."""
