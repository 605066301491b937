"""What every stream reader of Warren has in common."""

from __future__ import annotations

import os
import sys

from pyspark.sql.datasource import DataSourceStreamReader


class StreamReader(DataSourceStreamReader):
    """A stream reader whose planning process ends quietly when Spark closes the connection to it."""

    def stop(self) -> None:
        """End the planning process if Spark has gone; PySpark calls this last, whatever ended the planning."""
        if isinstance(sys.exception(), EOFError):
            # PySpark would report the closed connection over that connection, fail, and print both tracebacks.
            os._exit(0)
