"""Spark: the session, and the streaming queries that carry rows from the sources into the windows."""
