"""`/metrics` for Prometheus: Burrow's families, Warren's own, and how Warren itself is doing."""

from warren.serve.metrics.page import Metrics

__all__ = ["Metrics"]
