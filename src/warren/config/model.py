"""What can be configured: Burrow's sections, keys and defaults, as far as Warren has the parts for them."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

SECONDS_A_WEEK = 604_800


def _compiles(pattern: str) -> str:
    try:
        re.compile(pattern)
    except re.error as error:
        message = f"not a regular expression: {error}"
        raise ValueError(message) from error
    return pattern


def _is_host_port(address: str) -> str:
    host, colon, port = address.rpartition(":")
    if not colon or not port.isdigit() or int(port) > 65535:
        message = "must be host:port"
        raise ValueError(message)
    if ":" in host and not host.startswith("["):
        message = "an IPv6 address must stand in brackets"
        raise ValueError(message)
    return address


Regex = Annotated[str, AfterValidator(_compiles)]
HostPort = Annotated[str, AfterValidator(_is_host_port)]


class Section(BaseModel):
    """A section: keys are Burrow's, with hyphens; unknown ones are refused, so that a typing error is seen."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, alias_generator=lambda name: name.replace("_", "-"), populate_by_name=True
    )


class Tls(Section):
    """`[tls.NAME]`"""

    certfile: str = ""
    keyfile: str = ""
    cafile: str = ""
    noverify: bool = False


class Sasl(Section):
    """`[sasl.NAME]`"""

    mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] = "PLAIN"
    username: str
    password: str = Field(repr=False)
    handshake_first: bool = True


class ClientProfile(Section):
    """`[client-profile.NAME]`"""

    client_id: str = "burrow-lagchecker"
    kafka_version: str = "2.8.0"  # the client asks the brokers; kept because Burrow's files have it
    tls: str = ""
    sasl: str = ""


class HttpServer(Section):
    """`[httpserver.NAME]`"""

    address: HostPort
    timeout: int = Field(default=300, ge=1)


class Storage(Section):
    """`[storage.NAME]`"""

    class_name: Literal["inmemory"] = "inmemory"
    intervals: int = Field(default=10, ge=1, le=10_000)
    min_distance: int = Field(default=0, ge=0)
    expire_group: int = Field(default=SECONDS_A_WEEK, ge=1)
    group_allowlist: Regex = ""
    group_denylist: Regex = ""
    workers: int = Field(default=20, ge=1)  # Burrow's threads; there are none here
    queue_depth: int = Field(default=1, ge=0)


class Evaluator(Section):
    """`[evaluator.NAME]`"""

    class_name: Literal["caching"] = "caching"
    allowed_lag: int = Field(default=0, ge=0)
    minimum_complete: float = Field(default=0.0, ge=0.0, le=1.0)
    expire_cache: int = Field(default=10, ge=0)  # Burrow's cache; every answer here is fresh


class Cluster(Section):
    """`[cluster.NAME]`"""

    class_name: Literal["kafka"] = "kafka"
    servers: list[HostPort] = Field(min_length=1)
    client_profile: str = ""
    offset_refresh: int = Field(default=10, ge=1)
    topic_refresh: int = Field(default=60, ge=1)


class Consumer(Section):
    """`[consumer.NAME]`"""

    class_name: Literal["kafka"] = "kafka"
    cluster: str
    servers: list[HostPort] = Field(default_factory=list)
    client_profile: str = ""
    offsets_topic: str = "__consumer_offsets"
    start_latest: bool = False
    group_allowlist: Regex = ""
    group_denylist: Regex = ""


class Rules(Section):
    """`[rules.NAME]`: the rule set for groups that the patterns find; the first one that fits counts."""

    use: Literal["burrow", "warren"]
    cluster: Regex = ""
    group: Regex = ""


class ThresholdRule(Section):
    """`[threshold.NAME]`: the lag from which on a partition is WARN whatever the rules say; the first that fits."""

    cluster: Regex = ""
    group: Regex = ""
    topic: Regex = ""
    records: int | None = Field(default=None, ge=0)
    seconds: int | None = Field(default=None, ge=0)


class Warren(Section):
    """`[warren]`: what Burrow does not have. `master` is Spark's."""

    master: str = "local[2]"
    trigger: float = Field(default=1.0, ge=0.1)
    max_records: int = Field(default=2_000_000, ge=1_000)
    snapshot_interval: float = Field(default=30.0, gt=0)
    evaluate_interval: float = Field(default=5.0, gt=0)


class Config(Section):
    """The whole file."""

    general: dict[str, Any] = Field(default_factory=dict)
    logging: dict[str, Any] = Field(default_factory=dict)
    warren: Warren = Warren()
    tls: dict[str, Tls] = Field(default_factory=dict)
    sasl: dict[str, Sasl] = Field(default_factory=dict)
    client_profile: dict[str, ClientProfile] = Field(default_factory=dict)
    httpserver: dict[str, HttpServer] = Field(default_factory=dict)
    storage: dict[str, Storage] = Field(default_factory=dict, max_length=1)
    evaluator: dict[str, Evaluator] = Field(default_factory=dict, max_length=1)
    cluster: dict[str, Cluster] = Field(default_factory=dict)
    consumer: dict[str, Consumer] = Field(default_factory=dict)
    rules: dict[str, Rules] = Field(default_factory=dict)
    threshold: dict[str, ThresholdRule] = Field(default_factory=dict)

    @property
    def the_storage(self) -> Storage:
        """The one storage, or Burrow's defaults."""
        return next(iter(self.storage.values()), Storage())

    @property
    def the_evaluator(self) -> Evaluator:
        """The one evaluator, or Burrow's defaults."""
        return next(iter(self.evaluator.values()), Evaluator())
