"""What is known of each cluster while Warren runs: `ledger.py` knows it, `state.py` is asked, others look after it."""
