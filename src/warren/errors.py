"""Every error Warren raises on purpose, in families by what the reader can do about it.

WarrenError
  ConfigError    the configuration is wrong: fix it and start again
  SetupError     this machine lacks something (Java, disk, network, a free port): provide it and start again
  SourceError    Kafka could not be read: Warren retries by itself
    StartOverError what was read before no longer fits what is there: Warren forgets it and reads all again
  UnsendableError a message cannot be made or sent: it would be the same the next time
  HistoryError   the history cannot be read or written: see what the message says
  SinkError      points could not be written to a sink: they are kept, and Warren tries again
  DecodeError    one record is not what it should be: it is counted, and reading goes on
"""

from __future__ import annotations


class WarrenError(Exception):
    """Base of all errors raised on purpose; `hint` says what to do next."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".rstrip()


class ConfigError(WarrenError):
    """The configuration is wrong; it must be changed before Warren can start."""


class SetupError(WarrenError):
    """The machine lacks something that Warren needs to start."""


class SourceError(WarrenError):
    """A source could not be read now; its query is restarted with backoff."""


class StartOverError(SourceError):
    """What was read before does not fit what is there now; it is forgotten, and everything is read again."""


class UnsendableError(WarrenError):
    """No message can be made of an event, or sent; it would be the same the next time."""


class HistoryError(WarrenError):
    """The history cannot be read or written; the message says why, and what to do."""


class SinkError(WarrenError):
    """Points could not be written now; they are kept and written later. The text is one line without secrets."""


class DecodeError(WarrenError):
    """A record is malformed or of an unknown version; `kind` is the name it is counted under."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind
