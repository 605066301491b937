"""Spark's Python daemon, with everything that our tasks need imported before it forks them.

A worker forked from it starts in milliseconds instead of a second, and shares that memory with its siblings.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # NumPy's threads would not survive the fork, and are not needed

import pyspark.sql.pandas.serializers
import pyspark.worker
from pyspark.daemon import manager

import warren.sinks.writers
import warren.sources.admin
import warren.sources.commits
import warren.sources.heads
import warren.sources.storm
import warren.sources.zookeeper

__all__ = ["pyspark", "warren"]

if __name__ == "__main__":
    manager()
