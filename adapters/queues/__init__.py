"""Wake-ups: what says that a lead has something to do. The work itself stands in the lead's row."""
