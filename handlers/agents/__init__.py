"""Agents: what they are told, and how they are asked."""
