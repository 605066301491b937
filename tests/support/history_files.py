"""The history as anybody reads Parquet: by its catalog, without Warren."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.dataset as ds


def committed_offsets(path: Path, group: str) -> list[int]:
    """The offsets of a group's commits that the history holds, in order, as often as they are there."""
    catalog = sorted(path.glob("_log/*.version.json"))
    named = [one["path"] for file in catalog for one in json.loads(file.read_text())["add"]]
    files = [str(path / one) for one in named if one.startswith("commits/")]
    if not files:
        return []
    table = ds.dataset(files, format="parquet").to_table(filter=ds.field("group") == group)
    return sorted(table["offset"].to_pylist())
