"""The Spark session of this process."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

from pyspark.sql import SparkSession

from warren.machine.java import find_java
from warren.pipeline.archive import archive_options

_LOG_SETTINGS = """\
status = off
appender.file.type = RollingFile
appender.file.name = file
appender.file.fileName = {log}
appender.file.filePattern = {log}.%i
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = %d{{ISO8601}} %p %c{{1}}: %m%n%ex
appender.file.policies.type = Policies
appender.file.policies.size.type = SizeBasedTriggeringPolicy
appender.file.policies.size.size = 10MB
appender.file.strategy.type = DefaultRolloverStrategy
appender.file.strategy.max = 2
rootLogger.level = warn
rootLogger.appenderRef.file.ref = file
"""


LOCAL = "local"
SLOTS = 6
"""Tasks at once that are there for all clusters: two cores' worth of reading, and some for clusters that come later."""
SLOTS_A_CLUSTER = 2
"""A task that waits for brokers that do not answer takes a slot; each cluster has one for each of its sources."""


def local_master(clusters: int) -> str:
    """Spark in this process, with so many tasks at once that clusters that do not answer keep no other one waiting."""
    return f"local[{SLOTS + SLOTS_A_CLUSTER * clusters}]"


def start_session(master: str, home: Path) -> SparkSession:
    """Start Spark with its files under `home`."""
    home.mkdir(parents=True, exist_ok=True)
    java = find_java()
    os.environ["JAVA_HOME"] = str(java.home)
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ.setdefault("MALLOC_ARENA_MAX", "2")  # worker processes are many; each arena costs memory
    if master.startswith("local"):
        os.environ["PYTHONPATH"] = _with_startup(os.environ.get("PYTHONPATH", ""))
        # All of Spark is on this machine: it need not be reachable, nor ask a name server who it is.
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        os.environ.setdefault("SPARK_LOCAL_HOSTNAME", "localhost")
    return _builder(master, home, java.version).getOrCreate()


def _with_startup(python_path: str) -> str:
    """With the module that makes Spark's processes start faster; they inherit it."""
    startup = str(Path(__file__).parent / "startup")
    paths = [path for path in python_path.split(os.pathsep) if path and path != startup]
    return os.pathsep.join([startup, *paths])


def _builder(master: str, home: Path, java_version: str) -> SparkSession.Builder:
    log_settings = home / "spark-log4j2.properties"
    log_settings.write_text(_LOG_SETTINGS.format(log=home / "spark.log"))
    java_options = [
        f"-Dlog4j2.configurationFile={log_settings.resolve().as_uri()}",
        "-XX:TieredStopAtLevel=1",  # the JVM only passes batches on; its best code would cost more than it gives
        "-XX:+UseSerialGC",
        "-XX:ReservedCodeCacheSize=64m",
        "-XX:MinHeapFreeRatio=10",
        "-XX:MaxHeapFreeRatio=30",  # a backlog needs much for a short time; it goes back to the system
        "-Xshare:auto",
        *archive_options(java_version),
    ]
    settings = {
        "spark.driver.memory": "512m",
        "spark.driver.extraJavaOptions": " ".join(java_options),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.local.dir": str(home / "spark"),
        "spark.python.daemon.module": "warren.pipeline.daemon",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "100000",
        "spark.sql.execution.pyspark.udf.faulthandler.enabled": "true",
        "spark.sql.streaming.minBatchesToRetain": "2",
        "spark.sql.streaming.numRecentProgressUpdates": "2",
        "spark.sql.streaming.metricsEnabled": "false",
        "spark.sql.streaming.stopTimeout": "3000",
        "spark.sql.ui.retainedExecutions": "1",
        "spark.redaction.regex": "(?i)secret|password|token",
    }
    builder = SparkSession.builder.master(master).appName("warren")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder


def stop_session(spark: SparkSession, limit_s: float = 1.5) -> None:
    """Stop Spark; a JVM that does not go by itself in time is ended."""
    gateway = spark.sparkContext._gateway
    process = getattr(gateway, "proc", None)
    stopping = threading.Thread(target=spark.stop, name="stop Spark", daemon=True)
    stopping.start()
    stopping.join(limit_s)
    if process is not None:
        process.stdin.close()  # the JVM ends with its standard input
        try:
            process.wait(0.5)
        except subprocess.TimeoutExpired:
            process.kill()
