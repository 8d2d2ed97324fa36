"""The CRM mirror: what a session should look like there, and what is known of it. Pure."""
