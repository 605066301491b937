"""What can be configured: every section and key of Burrow's file with its defaults, and Warren's own.

The first line of a class names its section and says what it is for; with the descriptions and examples of its keys
that makes the reference file.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from warren.config.values import (
    DottedMap,
    Listener,
    Regex,
    Seconds,
    SecretMap,
    Servers,
    Strftime,
    TimeOfDay,
    TokenHash,
    Upper,
    Url,
    ZkPath,
    Zone,
)

SECONDS_A_WEEK = 604_800

NotifierClass = Literal[
    "http", "email", "null", "slack", "teams", "pagerduty", "opsgenie", "alertmanager", "telegram", "sms", "kafka"
]
SinkClass = Literal["influxdb", "elasticsearch", "opensearch", "kafka", "remote_write", "otlp"]
SaslMechanism = Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER", "GSSAPI"]
ConsumerClass = Literal["kafka", "kafka_zk", "storm_zk", "kafka_admin"]
Day = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]


def key(default: Any, says: str, **limits: Any) -> Any:
    """A key with what the reference says about it."""
    return Field(default=default, description=says, **limits)


class Section(BaseModel):
    """A section: keys are Burrow's, with hyphens; unknown ones are refused, so that a typing error is seen."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, alias_generator=lambda name: name.replace("_", "-"), populate_by_name=True
    )


class General(Section):
    """`[general]`: the process."""

    pidfile: str = key("burrow.pid", "file with the process id, so that two do not run in one directory; empty: none")
    stdout_logfile: str = key("", "file for standard output and error; an older one is renamed")
    access_control_allow_origin: str = key("", "value of the CORS header of JSON answers; empty: no header")
    env_var_prefix: str = key("burrow", "what the names of environment variables that override keys begin with")


class Logging(Section):
    """`[logging]`: Warren's own log."""

    filename: str = key("", "file to log to; empty: standard error")
    level: str = key("info", "debug, info, warn, error, panic or fatal")
    max_size: int = key(100, "megabytes after which the file is rotated", ge=1)
    max_backups: int = key(10, "so many rotated files are kept; 0: all", ge=0)
    max_age: int = key(30, "days that rotated files are kept; 0: for ever", ge=0)
    use_local_time: bool = key(False, "local time instead of UTC in the names of rotated files")
    use_compression: bool = key(False, "compress rotated files")


class Zookeeper(Section):
    """`[zookeeper]`: where several Warrens agree on the one that notifies."""

    servers: Servers = key([], "host:port of each server; needed once there is a notifier")
    timeout: Seconds = key(6, "seconds after which a session is lost")
    root_path: ZkPath = key("/burrow", "the path under which locks are kept")
    tls: str = key("", "name of a [tls.NAME]")


class Tls(Section):
    """`[tls.NAME]`: certificates, for clients and listeners that name it."""

    certfile: str = key("", "PEM file with the own certificate")
    keyfile: str = key("", "PEM file with its key")
    cafile: str = key("", "PEM file with the certificates that are trusted; empty: the system's")
    noverify: bool = key(False, "do not check the certificate of the other side")


class Sasl(Section):
    """`[sasl.NAME]`: how to log in to brokers."""

    mechanism: Annotated[SaslMechanism, Upper] = key(
        "PLAIN", "PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER or GSSAPI"
    )
    username: str = key("", "PLAIN, SCRAM: the name to log in with", examples=["warren"])
    password: SecretStr = key(SecretStr(""), "PLAIN, SCRAM: its password", examples=["secret"])
    handshake_first: bool = key(False, "Burrow's; Warren always does what the broker needs")
    token_url: str = key("", "OAUTHBEARER: where tokens are given for client id and secret (Warren)")
    client_id: str = key("", "OAUTHBEARER: who asks for a token (Warren)")
    client_secret: SecretStr = key(SecretStr(""), "OAUTHBEARER: its secret (Warren)")
    scope: str = key("", "OAUTHBEARER: of the token (Warren)")
    token_cafile: str = key("", "OAUTHBEARER: PEM file with the authorities of token-url (Warren)")
    principal: str = key("", "GSSAPI: of Kerberos; needs a Kafka client that is built with it (Warren)")
    keytab: str = key("", "GSSAPI: file with its key (Warren)")
    service_name: str = key("kafka", "GSSAPI: the name of the brokers' principal (Warren)")


class Iam(Section):
    """`[iam.NAME]`: how to log in to Amazon MSK."""

    region: str = Field(description="of Amazon MSK", min_length=1, examples=["eu-west-1"])
    role_arn: str = key("", "role to take on")
    profile: str = key("", "profile of the credentials file; a role comes first")


class ClientProfile(Section):
    """`[client-profile.NAME]`: how brokers are talked to."""

    client_id: str = key("burrow-lagchecker", "what the brokers see")
    kafka_version: str = key("2.8.0", "Burrow's; Warren asks the brokers")
    tls: str = key("", "name of a [tls.NAME]")
    sasl: str = key("", "name of a [sasl.NAME]")
    iam: str = key("", "name of an [iam.NAME]")
    properties: DottedMap = key({}, "more settings of librdkafka, by name; they win over the others (Warren)")
    dial_timeout: Seconds = key(30, "seconds that a connection may take")
    read_timeout: Seconds = key(30, "seconds that an answer may take")


class HttpServer(Section):
    """`[httpserver.NAME]`: an address to listen on; without any: one on a free port."""

    address: Listener = Field(description="host:port to listen on; without a host on all addresses", examples=[":8000"])
    timeout: Seconds = key(300, "seconds that an idle connection is kept")
    tls: str = key("", "name of a [tls.NAME] with certfile and keyfile: the listener speaks HTTPS")
    client_ca: str = key("", "PEM file; only clients with a certificate of these authorities get in (Warren)")
    max_connections: int = key(1_000, "more at the same time are refused (Warren)", ge=1)


class Storage(Section):
    """`[storage.NAME]`: the windows, in which the newest commits of each partition are kept."""

    class_name: Literal["inmemory"] = key("inmemory", "inmemory")
    intervals: int = key(10, "commits that the window of a partition holds", ge=1, le=10_000)
    min_distance: int = key(0, "seconds between two commits in a window; those in between are merged", ge=0)
    expire_group: Seconds = key(SECONDS_A_WEEK, "seconds without a commit after which a group is forgotten")
    group_allowlist: Regex = key("", "only groups in which this is found; empty: all")
    group_denylist: Regex = key("", "not the groups in which this is found; empty: none")
    workers: int = key(20, "Burrow's threads; Warren has none", ge=1)
    queue_depth: int = key(1, "Burrow's queue; Warren has none", ge=0)


class Evaluator(Section):
    """`[evaluator.NAME]`: how windows are judged."""

    class_name: Literal["caching"] = key("caching", "caching")
    expire_cache: int = key(10, "Burrow's cache in seconds; what Warren says is always fresh", ge=0)
    minimum_complete: float = key(0.0, "share of a window that must be filled before it is judged", ge=0.0, le=1.0)
    allowed_lag: int = key(0, "records of lag that are no lag", ge=0)


class Cluster(Section):
    """`[cluster.NAME]`: a Kafka cluster."""

    class_name: Literal["kafka"] = key("kafka", "kafka")
    servers: Servers = Field(description="host:port of some brokers", min_length=1, examples=[["127.0.0.1:9092"]])
    client_profile: str = key("", "name of a [client-profile.NAME]")
    offset_refresh: Seconds = key(10, "seconds between two looks at the ends of all partitions")
    topic_refresh: Seconds = key(60, "seconds between two looks for new topics and partitions")
    groups_reaper_refresh: int = key(
        0, "seconds between two looks for groups that the brokers no longer have; 0: never", ge=0
    )


class Consumer(Section):
    """`[consumer.NAME]`: a place where the consumers of a cluster commit."""

    class_name: ConsumerClass = key(
        "kafka",
        "kafka (the offsets topic), kafka_zk (ZooKeeper), storm_zk (Storm's spouts in ZooKeeper) or kafka_admin (the "
        "brokers are asked, where the offsets topic cannot be read)",
    )
    cluster: str = Field(description="name of a [cluster.NAME]", examples=["local"])
    servers: Servers = key(
        [], "host:port of brokers, or of ZooKeeper; empty for kafka and kafka_admin: those of the cluster"
    )
    group_allowlist: Regex = key("", "only groups in which this is found; empty: all")
    group_denylist: Regex = key("", "not the groups in which this is found; empty: none")
    client_profile: str = key("", "kafka, kafka_admin: name of a [client-profile.NAME]")
    offsets_topic: str = key("__consumer_offsets", "kafka: the topic that commits are read from")
    start_latest: bool = key(False, "kafka: only what is committed from now on, not what the topic holds already")
    backfill_earliest: bool = key(False, "kafka, with start-latest: what the topic holds already, too")
    zookeeper_path: ZkPath = key("", "kafka_zk: the path above /consumers; storm_zk: the path above the spouts' ids")
    zookeeper_timeout: Seconds = key(30, "kafka_zk, storm_zk: seconds after which a session is lost")
    zookeeper_auth: SecretStr = key(
        SecretStr(""), "kafka_zk, storm_zk: user:password of the digest scheme; empty: none (Warren)"
    )
    tls: str = key("", "kafka_zk, storm_zk: name of a [tls.NAME]; empty: without TLS (Warren)")
    poll_interval: Seconds = key(10, "kafka_zk, storm_zk, kafka_admin: seconds between two looks (Warren)")
    groups_per_second: int = key(500, "kafka_admin: groups that are asked for in a second, at most (Warren)", ge=1)
    requests_in_flight: int = key(20, "kafka_admin: groups that are asked for at the same time (Warren)", ge=1, le=1000)


class Notifier(Section):
    """`[notifier.NAME]`: who is told about groups in trouble."""

    class_name: NotifierClass = Field(
        description="http, email, null, slack, teams, pagerduty, opsgenie, alertmanager, telegram, sms or kafka",
        examples=["null"],
    )
    interval: Seconds = key(60, "seconds between two evaluations of a group")
    threshold: Literal[1, 2, 3] = key(2, "the status from which on is sent: 1 OK, 2 WARN, 3 ERR")
    send_interval: int | None = key(None, "seconds between two messages of one incident; not set: interval", ge=0)
    send_once: bool = key(False, "one message for each incident")
    send_close: bool = key(False, "a message at the end of an incident, too")
    group_allowlist: Regex = key("", "only groups in which this is found; empty: all")
    group_denylist: Regex = key("", "not the groups in which this is found; empty: none")
    extras: SecretMap = key({}, "texts that templates can use, by name")
    template_open: str = key("", "http, email: file of the template for an incident that is open")
    template_close: str = key("", "http, email: file of the template for its end; needed with send-close")
    url_open: SecretStr = key(SecretStr(""), "http: where to; a template, too")
    url_close: SecretStr = key(SecretStr(""), "http: where to at the end; needed with send-close")
    method_open: str = key("POST", "http: the method")
    method_close: str = key("POST", "http: the method at the end")
    timeout: Seconds = key(5, "http: seconds that the whole exchange may take")
    keepalive: int = key(300, "http: seconds between signs of life on an idle connection", ge=0)
    disable_http_keepalive: bool = key(False, "http: a connection for each message")
    headers: SecretMap = key({}, "http: headers by name")
    username: str = key("", "http, email: name to log in with")
    password: SecretStr = key(SecretStr(""), "http, email: its password")
    extra_ca: str = key("", "http, email: PEM file with certificates to trust besides the system's")
    noverify: bool = key(False, "http, email: do not check the receiver's certificate")
    server: str = key("", "email: host of the mail server")
    port: int = key(0, "email: its port", ge=0, le=65_535)
    auth_type: Literal["", "plain", "crammd5"] = key("", "email: plain, crammd5 or nothing")
    from_: str = key("", "email: the sender", alias="from")
    to: str = key("", "email: receivers with commas between them")
    url: SecretStr = key(SecretStr(""), "slack, teams, alertmanager: the address; others: another than the usual one")
    routing_key: SecretStr = key(SecretStr(""), "pagerduty: the integration key")
    api_key: SecretStr = key(SecretStr(""), "opsgenie: key of an API integration")
    token: SecretStr = key(SecretStr(""), "telegram: of the bot; sms: of the account")
    chat_id: str = key("", "telegram: a number, or @name of a channel")
    account: str = key("", "sms: the account's SID")
    from_number: str = key("", "sms: the number that it comes from")
    to_number: str = key("", "sms: the number that it goes to")
    labels: dict[str, str] = key({}, "alertmanager: labels that every alert gets")
    servers: Servers = key([], "kafka: host:port of some brokers")
    client_profile: str = key("", "kafka: name of a [client-profile.NAME]")
    to_topic: str = key("", "kafka: the topic that events are written to")
    cluster: Regex = key("", "only clusters in whose name this is found; empty: all (Warren)")
    topic: Regex = key("", "only groups that read a topic in which this is found; empty: all (Warren)")
    owner: Regex = key("", "only groups with a member on a host in which this is found; empty: all (Warren)")
    damp: int = key(0, "seconds that trouble, or its end, must last before it is told (Warren)", ge=0)
    wait: int = key(0, "seconds to wait for more that goes into the same message (Warren)", ge=0)
    group_by: Literal["", "cluster", "owner", "topic", "all"] = key(
        "", "cluster, owner, topic or all: what goes into the same message; empty: a message for each (Warren)"
    )
    per_minute: float = key(60.0, "messages at most; others wait (Warren)", gt=0)
    give_up_after: Seconds = key(86_400, "seconds after which a message is no longer tried (Warren)")
    report_ok: bool = key(False, "groups that are OK are told, too, every send-interval (Warren)")


class Maintenance(Section):
    """`[maintenance.NAME]`: times that come again and again in which nobody is told."""

    days: list[Day] = key(["mon", "tue", "wed", "thu", "fri", "sat", "sun"], "days of the week on which it begins")
    start: TimeOfDay = Field(description="time of the day at which it begins", examples=["22:00"])
    duration: Seconds = Field(description="seconds that it lasts", examples=[3600])
    zone: Zone = key("UTC", "time zone of start and days")
    cluster: Regex = key("", "clusters in whose name this is found; empty: all")
    group: Regex = key("", "groups in whose name this is found; empty: all")
    topic: Regex = key("", "groups that read a topic in which this is found; empty: all")


class Alerts(Section):
    """`[alerts]`: what all notifiers have in common."""

    page_url: str = key("", "address of this Warren as people see it; messages link to it")
    leader: Literal["auto", "none", "zookeeper", "kafka"] = key(
        "auto", "how several Warrens agree on the one that sends; auto: zookeeper if [zookeeper] has servers, else none"
    )
    leader_cluster: str = key("", "kafka: name of a [cluster.NAME]; empty: the first")
    leader_session: Seconds = key(8, "kafka: seconds of silence after which a leader loses its leadership")
    keep_incidents: Seconds = key(30 * 86_400, "seconds that incidents are kept after their end")


class Sink(Section):
    """`[sink.NAME]`: where the points of every so many seconds are written to."""

    class_name: SinkClass = Field(
        description="influxdb, elasticsearch, opensearch, kafka, remote_write (of Prometheus) or otlp (OpenTelemetry)",
        examples=["influxdb"],
    )
    interval: Seconds = key(10, "seconds between two points; they are taken at whole multiples of it")
    cluster: Regex = key("", "only clusters in whose name this is found; empty: all")
    group: Regex = key("", "only groups in whose name this is found; empty: all")
    topic: Regex = key("", "only partitions of topics in whose name this is found; empty: all")
    partitions: bool = key(True, "points for each partition of each group, too")
    topics: bool = key(True, "points for each partition of each topic, too")
    warren: bool = key(True, "points about how Warren itself is doing, too")
    queue_bytes: int = key(
        1_000_000_000, "bytes on disk that may wait; when there are more, the oldest go", ge=1_000_000
    )
    batch_points: int = key(0, "points in one request; 0: what suits the class", ge=0, le=100_000)
    url: Url = key(
        "",
        "all but kafka: the address; for remote_write and otlp with its path",
        examples=["http://127.0.0.1:8086"],
    )
    timeout: Seconds = key(30, "seconds that a request may take")
    username: str = key("", "all but kafka: name to log in with")
    password: SecretStr = key(SecretStr(""), "all but kafka: its password")
    headers: SecretMap = key({}, "all but kafka: more headers by name")
    extra_ca: str = key("", "all but kafka: PEM file with certificates to trust besides the system's")
    noverify: bool = key(False, "all but kafka: do not check the receiver's certificate")
    database: str = key("", "influxdb, version 1: the database", examples=["burrow"])
    retention_policy: str = key("", "influxdb, version 1: its retention policy; empty: the default one")
    org: str = key("", "influxdb, version 2: the organisation")
    bucket: str = key("", "influxdb, version 2: the bucket")
    token: SecretStr = key(SecretStr(""), "influxdb, version 2, remote_write and otlp: a token instead of a password")
    index: Strftime = key("burrow-%Y.%m.%d", "elasticsearch, opensearch: the index, with codes of strftime (UTC)")
    data_stream: str = key("", "elasticsearch, opensearch: a data stream instead of an index")
    manage_template: bool = key(True, "elasticsearch, opensearch: put an index template at the start")
    api_key: SecretStr = key(SecretStr(""), "elasticsearch, opensearch: an API key instead of a password, encoded")
    servers: Servers = key([], "kafka: host:port of some brokers")
    client_profile: str = key("", "kafka: name of a [client-profile.NAME]")
    to_topic: str = key("", "kafka: the topic that points are written to")


class Rules(Section):
    """`[rules.NAME]`: the rule set for some groups; the first section that fits counts, without any it is `burrow`."""

    use: Literal["burrow", "warren"] = Field(description="burrow or warren", examples=["burrow"])
    cluster: Regex = key("", "clusters in whose name this is found; empty: all")
    group: Regex = key("", "groups in whose name this is found; empty: all")


class ThresholdRule(Section):
    """`[threshold.NAME]`: lags that are too much whatever the rules say; the first section that fits counts."""

    cluster: Regex = key("", "clusters in whose name this is found; empty: all")
    group: Regex = key("", "groups in whose name this is found; empty: all")
    topic: Regex = key("", "topics in whose name this is found; empty: all")
    records: int | None = key(None, "lag from which on a partition is WARN whatever the rules say", ge=0)
    seconds: int | None = key(None, "the same in seconds", ge=0)


class Security(Section):
    """`[security]`: who may read and change what."""

    write_tokens: list[TokenHash] = key(
        [], "hashes of tokens, made by `warren hash-token`, that may change things; none: only this machine may"
    )
    read_tokens: list[TokenHash] = key([], "hashes of tokens that may read; none: everybody may")
    max_body_bytes: int = key(65_536, "longer requests are refused", ge=1_024)


class Api(Section):
    """`[api]`: other APIs."""

    v2: bool = key(False, "answer API v2, for clients from before Burrow 1.0")


class Metrics(Section):
    """`[metrics]`: how much the page for Prometheus tells."""

    partitions: bool = key(True, "series for each partition; without them only groups and topics are told")
    top_groups: int = key(0, "series of only so many groups of a cluster, worst first; 0: of all", ge=0)


class Spark(Section):
    """`[spark]`: where the pipeline runs."""

    master: str = key(
        "local", "local: this machine, so that no cluster waits for another one; else Spark's: spark://, yarn, k8s://"
    )
    environment: str = key("", "file made by `warren pack`, for executors that do not have Warren's packages")
    settings: DottedMap = key({}, "more settings of Spark, by name; they win over the others")


class History(Section):
    """`[history]`: what happened, kept in Parquet; replay, plan and charts over days read it."""

    path: str = key("", "directory, of this machine or any file system that Spark knows; empty: no history")
    retention: int = key(30, "days that it is kept", ge=1)
    flush_interval: Seconds = key(300, "seconds after which what came together becomes a file")
    flush_bytes: int = key(33_554_432, "so much that came together becomes a file earlier", ge=65_536)
    spool_bytes: int = key(
        2_147_483_648, "so much waits on this disk at most while the path cannot be written to", ge=1
    )
    sample_interval: Seconds = key(60, "seconds between two samples of every group's lag")


class Warren(Section):
    """`[warren]`: the pipeline."""

    trigger: float = key(1.0, "seconds between two batches", ge=0.1)
    max_records: int = key(2_000_000, "records of the offsets topic in one batch at most", ge=1_000)
    snapshot_interval: float = key(30.0, "seconds between two snapshots", gt=0)
    evaluate_interval: float = key(5.0, "seconds between two evaluations of all groups", gt=0)
    stale_after: float = key(30.0, "seconds without news of a partition after which its groups are stale", gt=0)
    log_probe_interval: float = key(10.0, "seconds between two probes for transaction markers behind a small lag", gt=0)
    retry_max: float = key(30.0, "longest wait in seconds before a failed query restarts", ge=1)


class Config(Section):
    """The whole file."""

    general: General = General()
    logging: Logging = Logging()
    zookeeper: Zookeeper = Zookeeper()
    client_profile: dict[str, ClientProfile] = Field(default_factory=dict)
    tls: dict[str, Tls] = Field(default_factory=dict)
    sasl: dict[str, Sasl] = Field(default_factory=dict)
    iam: dict[str, Iam] = Field(default_factory=dict)
    httpserver: dict[str, HttpServer] = Field(default_factory=dict)
    storage: dict[str, Storage] = Field(default_factory=dict)
    evaluator: dict[str, Evaluator] = Field(default_factory=dict)
    cluster: dict[str, Cluster] = Field(default_factory=dict)
    consumer: dict[str, Consumer] = Field(default_factory=dict)
    notifier: dict[str, Notifier] = Field(default_factory=dict)
    maintenance: dict[str, Maintenance] = Field(default_factory=dict)
    alerts: Alerts = Alerts()
    sink: dict[str, Sink] = Field(default_factory=dict)
    rules: dict[str, Rules] = Field(default_factory=dict)
    threshold: dict[str, ThresholdRule] = Field(default_factory=dict)
    security: Security = Security()
    api: Api = Api()
    metrics: Metrics = Metrics()
    spark: Spark = Spark()
    history: History = History()
    warren: Warren = Warren()

    @property
    def the_storage(self) -> Storage:
        """The one storage, or Burrow's defaults."""
        return next(iter(self.storage.values()), Storage())

    @property
    def the_evaluator(self) -> Evaluator:
        """The one evaluator, or Burrow's defaults."""
        return next(iter(self.evaluator.values()), Evaluator())

    @property
    def listeners(self) -> dict[str, HttpServer]:
        """The listeners; without any section one on a free port."""
        return self.httpserver or {"default": HttpServer(address=":0")}
