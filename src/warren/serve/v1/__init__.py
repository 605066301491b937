"""Warren's own HTTP API, version 1."""
