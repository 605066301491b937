"""Elasticsearch and OpenSearch: documents as telegraf's output makes them, by the bulk API."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, NamedTuple

import pyarrow as pa

from warren.errors import SinkError
from warren.sinks.columns import by_moment, joined, json_text, lines
from warren.sinks.contract import Sent
from warren.sinks.documents import documents_of, ids_of
from warren.sinks.health_points import CLUSTER, CLUSTER_FIELDS, PROCESS, PROCESS_FIELDS
from warren.sinks.http import REFUSED, HttpSender, LaterError, Prepared, Web, compressed, login
from warren.sinks.points import GROUP, PARTITION
from warren.webclient.client import Answer, Request

NDJSON = "application/x-ndjson"
_FILTER = "filter_path=errors,items.*.status,items.*._index,items.*.error.type,items.*.error.reason"
_ALREADY_THERE = 409
_ABOUT_THE_INDEX = ("validation_exception", "index_closed_exception")
"""With a status that is else about a document: no more shards may be made, or the index is closed."""
_GOOD = range(200, 300)
_STRFTIME = re.compile("%.")
_PRIORITY = 150


class SearchOptions(NamedTuple):
    """An index for each day, or a data stream if one is named."""

    web: Web
    daily_index: str = "burrow-%Y.%m.%d"
    data_stream: str = ""
    api_key: str = ""
    manage_template: bool = True
    batch_points: int = 2_000

    @property
    def pattern(self) -> str:
        """Which indices the template is for."""
        return self.data_stream or _STRFTIME.sub("*", self.daily_index)


def template_of(options: SearchOptions) -> dict[str, Any]:
    """How the indices keep points: names as whole words, numbers as what they are."""
    fields = {"lag_seconds": {"type": "double"}, "status": {"type": "keyword"}, "reason": {"type": "keyword"}}
    template: dict[str, Any] = {
        "index_patterns": [options.pattern],
        "priority": _PRIORITY,
        "template": {
            "mappings": {
                "dynamic_templates": [
                    {"tags": {"path_match": "tag.*", "mapping": {"type": "keyword", "ignore_above": 1024}}},
                    {"whole": {"match_mapping_type": "long", "mapping": {"type": "long"}}},
                ],
                "properties": {
                    "@timestamp": {"type": "date"},
                    "measurement_name": {"type": "keyword"},
                    GROUP: {"properties": fields},
                    PARTITION: {"properties": fields},
                    CLUSTER: {"properties": _numbers(CLUSTER_FIELDS)},
                    PROCESS: {"properties": _numbers(PROCESS_FIELDS)},
                },
            }
        },
    }
    return template | ({"data_stream": {}} if options.data_stream else {})


def _numbers(fields: Iterable[tuple[str, pa.DataType]]) -> dict[str, dict[str, str]]:
    return {name: {"type": "double" if pa.types.is_floating(kind) else "long"} for name, kind in fields}


def template_name(options: SearchOptions) -> str:
    """One for each pattern, so that sinks do not overwrite each other's."""
    return "warren-" + re.sub(r"[^a-z0-9_-]+", "-", options.pattern.lower()).strip("-")


class Search(HttpSender):
    """Writes points; a point has an id of its own, so the same one again replaces itself, or is there already."""

    def __init__(self, options: SearchOptions) -> None:
        super().__init__(options.web, options.batch_points, options.api_key)
        self._options = options
        self._has_template = not options.manage_template

    def send(self, points: pa.RecordBatch) -> Sent:
        """Send all of them; the index template comes first."""
        self._put_template()
        return super().send(points)

    def _prepared(self, points: pa.RecordBatch) -> Prepared:
        return lines(joined([self._actions(points), "\n", documents_of(points)]))

    def _actions(self, points: pa.RecordBatch) -> pa.StringArray:
        """What is to be done with each document: the line before it."""
        ids = pa.array(ids_of(points), pa.string())
        if self._options.data_stream:
            return joined([f'{{"create":{{"_index":{json_text(self._options.data_stream)},"_id":"', ids, '"}}'])
        return joined(['{"index":{"_index":', by_moment(points.column("time_ms"), self._index), ',"_id":"', ids, '"}}'])

    def _index(self, time_ms: int) -> str:
        return json_text(datetime.fromtimestamp(time_ms / 1000, UTC).strftime(self._options.daily_index))

    def _request(self, body: bytes) -> Request:
        return self._asking("POST", f"/_bulk?{_FILTER}", compressed(body), NDJSON, (("Content-Encoding", "gzip"),))

    def _taken(self, answer: Answer, count: int) -> Sent:
        """Item by item; if any of them is to be sent again so are all, which does no harm to the others."""
        bad = [item for item in _items(answer.body) if item["status"] not in (*_GOOD, _ALREADY_THERE)]
        for item in bad:
            if not _is_refused(item):
                raise LaterError(self._item_reason(item))
        return Sent(count - len(bad), len(bad), self._item_reason(bad[0]) if bad else "")

    def _item_reason(self, item: dict[str, Any]) -> str:
        error = item.get("error") or {}
        return self._poster.told(f"{item.get('_index', '?')}: {error.get('reason') or error.get('type') or 'refused'}")

    def _put_template(self) -> None:
        if self._has_template:
            return
        body, name = json.dumps(template_of(self._options)).encode(), template_name(self._options)
        request = self._asking("PUT", f"/_index_template/{name}", body, "application/json")
        answer = self._poster.ask(request, lambda answer: answer)
        if not answer.is_good:
            message = f"The index template {name} is refused, {self._poster.reason(answer)}."
            raise SinkError(message, hint="With manage-template = false none is put.")
        self._has_template = True

    def _asking(
        self, method: str, path: str, body: bytes, content_type: str, headers: tuple[tuple[str, str], ...] = ()
    ) -> Request:
        url = self._options.web.url.rstrip("/") + path
        return Request(method, url, body, content_type, (*login("ApiKey", self._options.api_key), *headers))


def _is_refused(item: dict[str, Any]) -> bool:
    """Whether it is the document that is wrong; rights, a block, an overload, a full cluster may be put right."""
    error = item.get("error")
    kind = error.get("type") if isinstance(error, dict) else None
    return item["status"] in REFUSED and kind not in _ABOUT_THE_INDEX


def _items(body: bytes) -> list[dict[str, Any]]:
    """What became of each document, if anything went wrong with any."""
    try:
        told = json.loads(body)
        items = [next(iter(item.values())) for item in told["items"]] if told.get("errors") else []
        is_sound = all(isinstance(item["status"], int) for item in items)
    except (ValueError, AttributeError, KeyError, TypeError, StopIteration):
        is_sound = False
    if not is_sound:
        message = "The answer to a bulk request cannot be read."
        raise SinkError(message)
    return items
