"""The Python packages that tasks need, in one file that Spark brings to its executors.

Machines of a Spark cluster have a Python and Spark itself, and nothing of ours. What is packed is Warren and all it
depends on, without PySpark: executors use the one of their Spark.
"""

from __future__ import annotations

import re
import sys
import tarfile
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import warren
from warren.errors import SetupError

NAME = "warren_environment"
"""The directory that executors see it as."""
OF_SPARK = frozenset({"pyspark", "py4j"})
_NEEDS = re.compile(r"([A-Za-z0-9._-]+)[^;]*(;.*)?")


class Packed(NamedTuple):
    """What was packed."""

    packages: list[str]
    bytes: int


def python_name() -> str:
    """What the Python is called that packages were made for; executors must have it."""
    return f"python{sys.version_info.major}.{sys.version_info.minor}"


def pack(path: Path) -> Packed:
    """Write the file; `SetupError` if that does not work."""
    unfinished = path.with_name(f"{path.name}.unfinished")
    names = []
    try:
        with tarfile.open(unfinished, "w:gz", compresslevel=3) as archive:
            for one in _needed("warren"):
                names.append(f"{one.name} {one.version}")
                for source, place in _files_of(one):
                    archive.add(source, place, recursive=False)
            _add_warren(archive)
        unfinished.replace(path)
    except OSError as error:
        message = f"The environment cannot be written to {path}: {error.strerror}."
        raise SetupError(message) from error
    return Packed(sorted(names, key=str.lower), path.stat().st_size)


def _add_warren(archive: tarfile.TarFile) -> None:
    """Warren itself, from where it runs: it may not be installed like the others."""
    top = Path(warren.__file__).parent
    for file in sorted(top.rglob("*.py")):
        archive.add(file, str(PurePosixPath("warren") / file.relative_to(top).as_posix()), recursive=False)


def _needed(name: str) -> Iterator[Distribution]:
    """Everything that a package needs, itself left out."""
    try:
        seen, waiting = {_canonical(name), *OF_SPARK}, _needs(distribution(name))
    except PackageNotFoundError as error:
        message = "Warren is not installed here, so what it needs is not known."
        raise SetupError(message, hint="Install it with pip, or `make setup`.") from error
    while waiting:
        one = waiting.pop()
        if one in seen:
            continue
        seen.add(one)
        try:
            found = distribution(one)
        except PackageNotFoundError:
            continue  # it is only needed elsewhere, or for something extra
        waiting += _needs(found)
        yield found


def _needs(of: Distribution) -> list[str]:
    found = [_NEEDS.match(text) for text in of.requires or ()]
    return [_canonical(one[1]) for one in found if one and "extra ==" not in (one[2] or "")]


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _files_of(of: Distribution) -> Iterator[tuple[Path, str]]:
    for file in of.files or ():
        source = Path(str(of.locate_file(file)))
        if ".." not in file.parts and "__pycache__" not in file.parts and source.is_file():
            yield source, file.as_posix()
