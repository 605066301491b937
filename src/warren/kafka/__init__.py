"""Thin edge to Kafka, for whoever reads or writes it: clients by their configuration, and their errors as ours."""
