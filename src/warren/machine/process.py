"""What a process owes the machine it runs on: a file with its id, and a file for what it prints."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from warren.errors import SetupError

READABLE = 0o644


@contextmanager
def pid_file(name: str) -> Iterator[None]:
    """Hold a file with our id while the block runs, so that no second one runs in this directory; no name: no file."""
    path = Path(name).absolute()
    if not name:
        yield
        return
    _take(path)
    try:
        yield
    finally:
        if _read(path) == str(os.getpid()):
            path.unlink(missing_ok=True)


def _take(path: Path) -> None:
    text = _read(path)
    if text.strip() and not (text.strip().isascii() and text.strip().isdigit()):
        message = f"The PID file {path} holds something else than a process id."
        raise SetupError(message, hint="Remove it, or give another one under [general] pidfile.")
    pid = int(text.strip() or 0)
    if pid and pid != os.getpid() and _is_running(pid):
        message = f"Existing process running on PID {pid}. Exiting (my pid = {os.getpid()})."
        raise SetupError(message, hint=f"Stop it first; if it is another program, remove {path}.")
    try:
        path.write_text(str(os.getpid()))
        path.chmod(READABLE)
    except OSError as error:
        message = f"The PID file {path} cannot be written: {error.strerror}."
        raise SetupError(message, hint="Give another one under [general] pidfile.") from error


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        message = f"The PID file {path} cannot be read: {error}."
        raise SetupError(message) from error


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True  # somebody else's
    except (ProcessLookupError, OverflowError):
        return False
    return True


def redirect_output(name: str) -> None:
    """Let standard output and error go to a file; one that is there already is kept under the time of now."""
    if not name:
        return
    path = Path(name)
    try:
        if path.exists():
            path.rename(path.with_name(f"{path.name}.{datetime.now().astimezone():%Y-%m-%d_%H:%M:%S}"))
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, READABLE)
    except OSError as error:
        message = f"Standard output cannot go to {path}: {error.strerror}."
        raise SetupError(message, hint="Choose another file under [general] stdout-logfile.") from error
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
        os.dup2(file, stream.fileno())
    os.close(file)
