"""HubSpot's CRM over HTTP: contacts and deals read and written, and what each answer of it means.

Source of the shapes and of the traps: research/crm.md §1, §2 and §4.4. Only `client` loads what it
takes to speak HTTP.
"""
