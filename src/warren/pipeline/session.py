"""The Spark session of this process."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from warren.errors import SetupError
from warren.machine.java import find_java
from warren.machine.logs import silence_py4j
from warren.pipeline.archive import archive_options
from warren.pipeline.environment import NAME, python_name

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


_CHECKPOINT_FILES = "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
NOTHING: Mapping[str, str] = MappingProxyType({})
LOCAL = "local"
SLOTS = 6
"""Tasks at once that are there for all clusters: two cores' worth of reading, and some for clusters that come later."""
SLOTS_A_CLUSTER = 2
"""A task that waits for brokers that do not answer takes a slot; each cluster has one for each of its sources."""


def local_master(clusters: int, sinks: int = 0) -> str:
    """Spark in this process, with so many tasks at once that who does not answer keeps nobody else waiting."""
    return f"local[{SLOTS + SLOTS_A_CLUSTER * clusters + sinks}]"


def start_session(
    master: str, home: Path, settings: Mapping[str, str] = NOTHING, environment: str = ""
) -> SparkSession:
    """Start Spark with its files under `home`; `settings` win over our own.

    `environment` is a file that `warren pack` made, for executors that have no packages of ours.
    """
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
    else:
        settings = {**_cluster_settings(environment), **settings}
        os.environ["PYSPARK_PYTHON"] = settings.get("spark.pyspark.python", os.environ["PYSPARK_PYTHON"])
    builder = _builder(master, home, java.version)
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def _cluster_settings(environment: str) -> dict[str, str]:
    """How our packages come to the executors; without a file they must have them at the same place as this machine."""
    if not environment:
        return {}
    if not Path(environment).is_file():
        message = f"There is no environment for the executors in {environment}."
        raise SetupError(message, hint=f"`warren pack {environment}` makes it.")
    # The same name must lead to our Python here, and to the executors' own there.
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    return {
        "spark.archives": f"{Path(environment).resolve().as_uri()}#{NAME}",
        "spark.executorEnv.PYTHONPATH": NAME,
        "spark.pyspark.python": python_name(),
    }


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
        **({"spark.default.parallelism": str(os.cpu_count() or 1)} if master.startswith("local") else {}),
        # A history consists of some hundred small files: to ask for them one task after the other would take longest.
        "spark.sql.sources.parallelPartitionDiscovery.threshold": "256",
        "spark.sql.sources.parallelPartitionDiscovery.parallelism": "32",
        "spark.sql.files.openCostInBytes": "262144",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "100000",
        "spark.sql.execution.pyspark.udf.faulthandler.enabled": "true",
        "spark.sql.streaming.minBatchesToRetain": "2",
        "spark.sql.streaming.numRecentProgressUpdates": "2",
        "spark.sql.streaming.metricsEnabled": "false",
        # No run reads the checkpoint of another one. Spark's default runs `readlink` and `chmod` dozens of times a
        # second to write it, and a checksum beside each of its files.
        "spark.sql.streaming.checkpointFileManagerClass": _CHECKPOINT_FILES,
        "spark.sql.streaming.checkpoint.fileChecksum.enabled": "false",
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
    stopping = threading.Thread(target=_stop, args=[spark], name="stop Spark", daemon=True)
    stopping.start()
    stopping.join(limit_s)
    if stopping.is_alive():
        silence_py4j()
    if process is not None:
        process.stdin.close()  # the JVM ends with its standard input
        try:
            process.wait(0.5)
        except subprocess.TimeoutExpired:
            process.kill()


def _stop(spark: SparkSession) -> None:
    with suppress(Py4JError):  # its JVM was ended meanwhile
        spark.stop()
