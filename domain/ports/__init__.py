"""What the service needs from the world, split by consequence: `storage` and `effects`."""
