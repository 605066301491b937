"""Warren: Kafka consumer-lag monitoring without thresholds, on Spark."""

__version__ = "0.1.0"
