"""A directory in any file system that Spark knows: this machine's, HDFS, S3 and so on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple
from uuid import uuid4

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.sql import SparkSession

from warren.errors import HistoryError


class FileInfo(NamedTuple):
    """A file by its path below the directory."""

    path: str
    bytes: int
    modified_ms: int


class Files:
    """Paths are relative to the directory. What fails is a `HistoryError`."""

    def __init__(self, spark: SparkSession, root: str) -> None:
        self.root = root.rstrip("/") or "/"
        jvm: Any = spark._jvm
        self._fs_path = jvm.org.apache.hadoop.fs.Path
        with self._told("used"):
            top = self._fs_path(self.root)
            self._fs = top.getFileSystem(spark._jsc.hadoopConfiguration())
            self.address = self._fs.makeQualified(top).toString()
            """The directory as Spark knows it, with its scheme."""

    def full(self, path: str) -> str:
        """A path as Spark reads it."""
        return f"{self.address}/{path}"

    def exists(self, path: str) -> bool:
        """Whether there is such a file or directory."""
        with self._told("looked at"):
            return bool(self._fs.exists(self._at(path)))

    def make_directory(self, path: str) -> None:
        """Make a directory, and those above it, unless it is there."""
        with self._told("written to"):
            self._fs.mkdirs(self._at(path))

    def list(self, directory: str = "") -> list[FileInfo]:
        """All files below a directory; none if it is not there."""
        with self._told("listed"):
            at = self._at(directory) if directory else self._fs_path(self.address)
            if not self._fs.exists(at):
                return []
            return list(self._below(at))

    def _below(self, at: Any) -> Iterator[FileInfo]:
        # Not `listFiles`: on a local disk it runs a program for each file, and fails if one goes meanwhile.
        prefix = len(self.address) + 1
        for one in self._fs.listStatus(at):
            if one.isDirectory():
                yield from self._below(one.getPath())
            else:
                yield FileInfo(one.getPath().toString()[prefix:], one.getLen(), one.getModificationTime())

    def read_text(self, path: str) -> str:
        """A whole file."""
        with self._told(f"read ({path})"):
            stream = self._fs.open(self._at(path))
            try:
                return bytes(stream.readAllBytes()).decode()
            finally:
                stream.close()

    def write_new(self, path: str, text: str) -> bool:
        """Write a file that is whole or not there; False, and nothing changes, if there is one already."""
        unfinished = f"{path}.{uuid4().hex}.unfinished"
        with self._told(f"written ({path})"):
            stream = self._fs.create(self._at(unfinished), False)
            stream.write(bytearray(text.encode()))
            stream.close()
        if self.exists(path) or not self.rename(unfinished, path):
            self.delete(unfinished)
            return False
        return True

    def rename(self, path: str, to: str) -> bool:
        """Give a file another place; False if that did not work."""
        with self._told("changed"):
            target = self._at(to)
            self._fs.mkdirs(target.getParent())
            return bool(self._fs.rename(self._at(path), target))

    def delete(self, path: str) -> None:
        """Remove a file or directory; it may be gone already."""
        with self._told("changed"):
            self._fs.delete(self._at(path), True)

    def _at(self, path: str) -> Any:
        return self._fs_path(f"{self.address}/{path}")

    @contextmanager
    def _told(self, doing: str) -> Iterator[None]:
        try:
            yield
        except Py4JJavaError as error:
            cause = str(error.java_exception.getMessage()).splitlines()[0]
            message = f"The history in {self.root} cannot be {doing}: {cause}"
            raise HistoryError(
                message, hint="See that the path is right, and that this user may write there."
            ) from error
        except Py4JError as error:
            message = f"The history in {self.root} cannot be {doing}: Spark is gone."
            raise HistoryError(message) from error
