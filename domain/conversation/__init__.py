"""Conversations: what was said, who answers, and what is still to be sent. Pure."""
