"""Points: what is known of a cluster at one moment, written to where people look. `service.py` puts it together."""
