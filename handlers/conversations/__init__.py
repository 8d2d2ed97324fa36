"""Use cases of conversations: what comes in, what is answered, and what people do with it."""
