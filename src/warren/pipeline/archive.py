"""A class-data archive for Spark's JVM: made once, it halves the time that Spark takes to start.

An archive fits one JVM and one installation of Spark: the same files, at the same place. One that does not fit, or is
not there, is silently left out by the JVM. `python -m warren.pipeline.archive` makes it.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyspark
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit
from pyspark.sql.types import StructType

_RECORDING = "WARREN_RECORD_ARCHIVE"


def archive_path(java_version: str) -> Path:
    """Where the archive for this JVM and this Spark lies: with the installation, and gone with it."""
    fits = re.sub(r"[^\w.+-]+", "-", f"spark-{pyspark.__version__}-{_installed()}-java-{java_version}")
    return Path(sys.prefix) / "share" / "warren" / f"{fits}.jsa"


def _installed() -> int:
    """When Spark was installed, in seconds: the same files put there again are others to the JVM."""
    jars = (Path(pyspark.__file__).parent / "jars").glob("spark-core_*.jar")
    return max((int(one.stat().st_mtime) for one in jars), default=0)


def archive_options(java_version: str) -> list[str]:
    """The JVM's options to use the archive, or to write it while it is being made."""
    if recording := os.environ.get(_RECORDING):
        return [f"-XX:ArchiveClassesAtExit={recording}"]
    path = archive_path(java_version)
    return [f"-XX:SharedArchiveFile={path}", "-Xlog:cds=off", "-Xlog:cds+dynamic=off"] if path.exists() else []


def main() -> int:
    """Make the archive if there is none; a failure is told, and costs only speed."""
    from warren.machine.java import find_java

    path = archive_path(find_java().version)
    if path.exists():
        return 0
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return _make(path)
    except OSError as error:
        print(f"No class-data archive, Spark will start slower: {error}", file=sys.stderr)
        return 1


def _make(path: Path) -> int:
    with tempfile.TemporaryDirectory(dir=path.parent) as scratch:
        recording = Path(scratch) / "recording.jsa"
        command = [sys.executable, "-c", "from warren.pipeline.archive import record; record()", scratch]
        done = subprocess.run(
            command, env={**os.environ, _RECORDING: str(recording)}, capture_output=True, text=True, check=False
        )
        if done.returncode or not recording.exists():
            print(f"No class-data archive, Spark will start slower: {done.stderr[-300:]}", file=sys.stderr)
            return 1
        for other in path.parent.glob("spark-*.jsa"):
            other.unlink()  # of what was installed here before
        recording.replace(path)
    return 0


def record() -> None:
    """Start Spark and run a small stream like ours, so that its classes are loaded; the JVM writes them at its end."""
    from warren.pipeline.session import start_session

    home = Path(sys.argv[1])
    spark = start_session("local[2]", home)
    spark.dataSource.register(_OneRowSource)
    _run_one_batch(spark, home)
    process = spark.sparkContext._gateway.proc  # type: ignore[union-attr]
    spark.stop()
    process.stdin.close()
    process.wait(60)


def _run_one_batch(spark: SparkSession, home: Path) -> None:
    def take(batch: DataFrame, batch_id: int) -> None:
        batch.toArrow()

    stream = spark.readStream.format("warren-one-row").load().writeStream.foreachBatch(take)
    query = stream.option("checkpointLocation", str(home / "checkpoint")).start()
    query.processAllAvailable()
    query.stop()


class _OneRowSource(DataSource):
    @classmethod
    def name(cls) -> str:
        return "warren-one-row"

    def schema(self) -> str:
        return "number bigint, text string"

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        return _OneRowReader()


class _OneRowReader(DataSourceStreamReader):
    def initialOffset(self) -> dict[str, Any]:
        return {"row": 0}

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:
        return {"row": 1}

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        return [] if start == end else [InputPartition(None)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        yield pa.RecordBatch.from_pydict({"number": [1], "text": ["one"]})


if __name__ == "__main__":
    sys.exit(main())
