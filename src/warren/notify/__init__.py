"""Who is told about groups in trouble: incidents, what is sent of them to whom, and that it arrives."""
