"""Commands that ask a running Warren, or need none."""
