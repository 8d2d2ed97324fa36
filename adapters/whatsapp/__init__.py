"""WhatsApp's Cloud API: what it delivers, read; what is to be said there, sent.

Source of the shapes and of the traps: research/whatsapp.md. Nothing here keeps state between two
deliveries, and only `client` loads what it takes to speak HTTP.
"""
