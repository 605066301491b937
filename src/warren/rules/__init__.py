"""Stage 4, pure: (windows, now) -> verdicts. Everything that decides is a function here; nothing here reads a clock."""
