"""Files that Warren ships for Grafana and Prometheus, and writing them to a directory."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from warren.errors import WarrenError

SHIPPED = Path(__file__).parent
SOURCES = ("prometheus", "influxdb", "elasticsearch")
RULES = ("prometheus/alerts.yml", "prometheus/recording.yml")
ADDRESS_VARIABLE = "warren"
RUNBOOKS = "runbook_url: docs/"


class ExportError(WarrenError):
    """Files cannot be written, or would replace what somebody has changed."""


def files_for(sources: Iterable[str], *, url: str, docs_url: str = "") -> dict[str, bytes]:
    """Every file for these data sources by its path; `url` is Warren's address, `docs_url` where its docs are."""
    wanted: dict[str, bytes] = {}
    for source in sources:
        for path in sorted((SHIPPED / "grafana" / source).glob("*.json")):
            wanted[f"grafana/{source}/{path.name}"] = _with_address(path.read_bytes(), url)
        for kind in ("dashboards", "datasources"):
            name = f"provisioning/{kind}/warren-{source}.yaml"
            wanted[name] = (SHIPPED / name).read_bytes()
        if source == "prometheus":
            wanted |= {name: _with_runbooks((SHIPPED / name).read_text(), docs_url) for name in RULES}
    return wanted


def write(files: Mapping[str, bytes], directory: Path, *, force: bool = False) -> list[str]:
    """Write what is not there yet, and say what; all or, if something else is there, nothing."""
    try:
        missing = {name: content for name, content in files.items() if _content(directory / name) != content}
        changed = [name for name in missing if (directory / name).exists()]
        if changed and not force:
            raise _changed(directory, changed)
        for name, content in missing.items():
            (directory / name).parent.mkdir(parents=True, exist_ok=True)
            (directory / name).write_bytes(content)
    except OSError as error:
        message = f"{error.filename or directory} cannot be written: {error.strerror}."
        raise ExportError(message, hint="Name another directory.") from error
    return list(missing)


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


def _changed(directory: Path, names: list[str]) -> ExportError:
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    message = f"Something else is already in {directory}: {', '.join(names[:3])}{more}; nothing was written."
    return ExportError(message, hint="Give --force to replace it, or name another directory.")


def _with_address(dashboard: bytes, url: str) -> bytes:
    """The dashboard with the address that its links to Warren begin with."""
    content = json.loads(dashboard)
    for variable in content["templating"]["list"]:
        if variable["name"] == ADDRESS_VARIABLE:
            variable["query"] = url
            variable["current"] = {"text": url, "value": url}
    return f"{json.dumps(content, indent=2, sort_keys=True)}\n".encode()


def _with_runbooks(rules: str, docs_url: str) -> bytes:
    base = f"{docs_url.rstrip('/')}/" if docs_url else "docs/"
    return rules.replace(RUNBOOKS, f"runbook_url: {base}").encode()
