"""The worker of the CRM mirror: it brings what a session should look like there into the account."""
