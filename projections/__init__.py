"""Pure recipes: every view is a fold of events, live and rebuilt by the same code."""
