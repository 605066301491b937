"""Edge: what Warren knows, over HTTP."""
