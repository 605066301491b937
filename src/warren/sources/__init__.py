"""Stage 1, edge: positions in, rows out. Spark data sources over Kafka; what they read is decoded where it is read."""
