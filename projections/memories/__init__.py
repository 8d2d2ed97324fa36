"""LeadMemories: what a lead's events say about them, as cells that merge in any order."""
