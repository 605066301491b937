"""What Warren costs and how fast it is, measured against a real broker: `make bench`."""
