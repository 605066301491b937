"""Searches that Grafana's Elasticsearch data source sends for a query of a panel, and the values in the responses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

PIPELINE = ("derivative",)


def search(target: Mapping[str, Any], from_ms: int, to_ms: int, interval: str) -> dict[str, Any]:
    """Return the body of a search for a query whose variables are filled in."""
    return {
        "size": 0,
        "query": _query(target["query"], from_ms, to_ms),
        "aggs": _aggregations(target["bucketAggs"], target["metrics"], (from_ms, to_ms), interval),
    }


def search_for_terms(query: Mapping[str, Any], from_ms: int, to_ms: int) -> dict[str, Any]:
    """Return the body of a search for the values of a variable."""
    terms = {"field": query["field"], "size": query["size"], "order": {"_key": "asc"}}
    return {"size": 0, "query": _query(query["query"], from_ms, to_ms), "aggs": {"1": {"terms": terms}}}


def _query(text: str, from_ms: int, to_ms: int) -> dict[str, Any]:
    within = {"range": {"@timestamp": {"gte": from_ms, "lte": to_ms, "format": "epoch_millis"}}}
    return {"bool": {"filter": [within, {"query_string": {"analyze_wildcard": True, "query": text}}]}}


def _aggregations(buckets: list[Any], metrics: list[Any], between: tuple[int, int], interval: str) -> dict[str, Any]:
    """Return nested buckets with the metrics in the innermost ones."""
    if not buckets:
        return {one["id"]: _metric(one) for one in metrics}
    first, *others = buckets
    within = _aggregations(others, metrics, between, interval)
    if first["type"] == "terms":
        return {first["id"]: {"terms": _terms(first), "aggs": {**_ordering(first, metrics), **within}}}
    return {first["id"]: {"date_histogram": _histogram(first, between, interval), "aggs": within}}


def _terms(bucket: Mapping[str, Any]) -> dict[str, Any]:
    settings = bucket["settings"]
    size, least = int(settings["size"]), int(settings["min_doc_count"])
    order = {settings["orderBy"]: settings["order"]}
    return {"field": bucket["field"], "size": size, "min_doc_count": least, "order": order}


def _ordering(bucket: Mapping[str, Any], metrics: list[Any]) -> dict[str, Any]:
    """Return the metric that orders the buckets: each bucket must contain it."""
    wanted = bucket["settings"]["orderBy"]
    return {one["id"]: _metric(one) for one in metrics if one["id"] == wanted}


def _histogram(bucket: Mapping[str, Any], between: tuple[int, int], interval: str) -> dict[str, Any]:
    assert bucket["settings"]["interval"] == "auto"
    return {
        "field": bucket["field"],
        "fixed_interval": interval,
        "min_doc_count": int(bucket["settings"]["min_doc_count"]),
        "extended_bounds": {"min": between[0], "max": between[1]},
        "format": "epoch_millis",
    }


def _metric(metric: Mapping[str, Any]) -> dict[str, Any]:
    if metric["type"] in PIPELINE:
        return {metric["type"]: {"buckets_path": metric["field"], **metric["settings"]}}
    return {metric["type"]: {"field": metric["field"]}}


def values(target: Mapping[str, Any], answer: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], float]]:
    """Yield the keys of the terms and the value, for every visible metric that has a value."""
    shown = [one["id"] for one in target["metrics"] if not one.get("hide")]
    yield from _values(target["bucketAggs"], shown, answer["aggregations"], ())


def _values(
    buckets: list[Any], shown: list[str], found: Mapping[str, Any], keys: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], float]]:
    if not buckets:
        metrics = [found[one] for one in shown if one in found]
        known = [one.get("normalized_value", one["value"]) for one in metrics]
        yield from ((keys, value) for value in known if value is not None)
        return
    first, *others = buckets
    for bucket in _trimmed(found[first["id"]]["buckets"], first):
        of_terms = (*keys, bucket["key"]) if first["type"] == "terms" else keys
        yield from _values(others, shown, bucket, of_terms)


def _trimmed(found: list[Any], bucket: Mapping[str, Any]) -> list[Any]:
    edge = int(bucket["settings"].get("trimEdges", 0))
    return found[edge : len(found) - edge] if len(found) > 2 * edge else found
