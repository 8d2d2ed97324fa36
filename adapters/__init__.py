"""What speaks to the world: stores, the clock, sources, logs. Siblings never know each other."""
