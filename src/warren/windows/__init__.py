"""Stage 3, pure: (state, rows, now) -> state. Sliding windows, heads and owners of one cluster, as NumPy columns."""
