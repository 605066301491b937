"""Where messages go: one small module for each kind of receiver, all over one contract."""
