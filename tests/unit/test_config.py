"""Configuration: Burrow's file is understood, and what is wrong with it is told at once."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
import yaml

from warren.config.kafka_client import client_settings
from warren.config.load import Loaded, for_bootstrap, load_directory
from warren.config.model import Config
from warren.errors import ConfigError

PUBLISHED = Path(__file__).parents[1] / "data" / "burrow"

BURROW = """
[general]
pidfile = "burrow.pid"

[client-profile.Prod]
client-id = "watcher"
kafka-version = "2.0.0"
tls = "corp"
sasl = "user"
dial-timeout = 7

[tls.corp]
cafile = "ca.pem"

[sasl.user]
mechanism = "scram-sha-512"
username = "warren"
password = "hunter2"

[httpserver.default]
address = ":8000"

[storage.default]
class-name = "inmemory"
workers = 20
intervals = 15
expire-group = 3600
min-distance = 1

[cluster.Local]
class-name = "kafka"
servers = ["a:9092", "b:9092"]
client-profile = "Prod"
topic-refresh = 120
offset-refresh = 30

[consumer.local]
class-name = "kafka"
cluster = "Local"
client-profile = "Prod"
group-denylist = "^(console-consumer-).*$"
"""

SMALL = """
[cluster.local]
servers = ["a:9092"]

[consumer.local]
cluster = "local"
"""


def load(directory: Path, text: str, name: str = "burrow.toml", **environ: str) -> Loaded:
    (directory / name).write_text(text)
    return load_directory(directory, environ)


def refused(directory: Path, text: str, name: str = "burrow.toml", **environ: str) -> list[str]:
    """What is told to be wrong, a line each."""
    with pytest.raises(ConfigError) as caught:
        load(directory, text, name, **environ)
    return [line.strip() for line in str(caught.value).splitlines()[1:]]


# -- secrets, and how brokers are logged in to ----------------------------------------------------------------------

LOGIN = """
[client-profile.p]
sasl = "s"

[cluster.local]
servers = ["a:9092"]
client-profile = "p"

[consumer.local]
cluster = "local"

[sasl.s]
"""


def test_a_password_may_stand_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "password").write_text("hunter2\n")
    config = load(tmp_path, f'{LOGIN}username = "warren"\npassword-file = "password"').config

    assert config.sasl["s"].password.get_secret_value() == "hunter2"


def test_a_value_may_be_a_variable(tmp_path: Path) -> None:
    text = f'{LOGIN}username = "${{WHO}}"\npassword = "${{HOW}}"'
    sasl = load(tmp_path, text, WHO="warren", HOW="hunter2").config.sasl["s"]

    assert (sasl.username, sasl.password.get_secret_value()) == ("warren", "hunter2")


def test_files_and_variables_that_are_not_there_are_told_with_their_lines(tmp_path: Path) -> None:
    text = f'{LOGIN}username = "${{WHO}}"\npassword-file = "nowhere"'

    assert refused(tmp_path, text) == [
        "burrow.toml:13: sasl.s.username: the environment variable WHO is not set",
        "burrow.toml:14: sasl.s.password-file: the file cannot be read: No such file or directory",
    ]


def test_a_secret_that_stands_there_and_in_a_file_is_told(tmp_path: Path) -> None:
    text = f'{LOGIN}username = "warren"\npassword = "hunter2"\npassword-file = "password"'

    assert refused(tmp_path, text) == [
        "burrow.toml:15: sasl.s.password-file: stands beside password; remove one of them"
    ]


@pytest.mark.parametrize(
    ("keys", "missing"),
    [
        ("", ["username", "password"]),
        ('mechanism = "oauthbearer"', ["token-url", "client-id", "client-secret"]),
        ('mechanism = "gssapi"', ["principal"]),
    ],
)
def test_a_login_needs_what_its_mechanism_needs(tmp_path: Path, keys: str, missing: list[str]) -> None:
    told = refused(tmp_path, LOGIN + keys)

    assert [line.partition("sasl.s.")[2].partition(":")[0] for line in told] == missing


def test_tokens_are_asked_for_with_client_id_and_secret(tmp_path: Path) -> None:
    keys = 'mechanism = "OAUTHBEARER"\ntoken-url = "http://a/t"\nclient-id = "me"\nclient-secret = "s"\nscope = "kafka"'
    settings = client_settings(load(tmp_path, LOGIN + keys).config, ["a:9092"], "p")

    assert {name: value for name, value in settings.items() if name.startswith("sasl.")} == {
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.oauthbearer.method": "oidc",
        "sasl.oauthbearer.token.endpoint.url": "http://a/t",
        "sasl.oauthbearer.client.id": "me",
        "sasl.oauthbearer.client.secret": "s",
        "sasl.oauthbearer.scope": "kafka",
    }


def test_a_login_that_the_kafka_client_is_not_built_for_is_told(tmp_path: Path) -> None:
    [warning] = load(tmp_path, f'{LOGIN}mechanism = "GSSAPI"\nprincipal = "me"').warnings

    assert warning.startswith("burrow.toml:2: client-profile.p: the Kafka client refuses it: No provider for SASL")


def with_properties(properties: str) -> str:
    return LOGIN.replace('sasl = "s"', f"properties = {{{properties}}}").partition("[sasl.s]")[0]


def test_properties_win_over_everything_else(tmp_path: Path) -> None:
    config = load(tmp_path, with_properties('"socket.timeout.ms" = "1234", "socket.keepalive.enable" = "true"')).config
    settings = client_settings(config, ["a:9092"], "p")

    assert (settings["socket.timeout.ms"], settings["socket.keepalive.enable"]) == ("1234", "true")


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ('"no.such.thing" = "1"', 'the Kafka client refuses them: No such configuration property: "no.such.thing"'),
        ('"isolation.level" = "read_uncommitted"', "cannot be set here: Warren needs it as it is"),
    ],
)
def test_properties_that_cannot_be_are_told(tmp_path: Path, written: str, says: str) -> None:
    [told] = refused(tmp_path, with_properties(written))

    assert told.endswith(says)


# -- what is understood ----------------------------------------------------------------------------------------------


def test_a_burrow_file_is_understood(tmp_path: Path) -> None:
    config, _, warnings = load(tmp_path, BURROW)

    assert warnings == ["burrow.toml:13: tls.corp.cafile: the file cannot be read: No such file or directory"]
    assert config.the_storage.intervals == 15
    assert config.cluster["local"].offset_refresh == 30
    assert config.httpserver["default"].address == ":8000"


@pytest.mark.parametrize("ending", ["yaml", "yml", "json"])
def test_the_same_file_in_another_form_says_the_same(tmp_path: Path, ending: str) -> None:
    written = yaml.safe_dump if ending.startswith("y") else json.dumps
    expected = load(tmp_path, BURROW).config
    (tmp_path / "burrow.toml").unlink()

    assert load(tmp_path, written(tomllib.loads(BURROW)), f"burrow.{ending}").config == expected


def test_words_of_yaml_that_only_look_like_something_else_stay_words(tmp_path: Path) -> None:
    text = "cluster:\n  no:\n    servers: a:9092\nhttpserver:\n  on: {address: 127.0.0.1:8000}\nlogging:\n"
    config = load(tmp_path, text, "burrow.yaml").config

    assert (list(config.cluster), config.cluster["no"].servers) == (["no"], ["a:9092"])
    assert config.httpserver["on"].address == "127.0.0.1:8000"


def test_json_with_tabs_is_understood(tmp_path: Path) -> None:
    text = json.dumps({"cluster": {"local": {"servers": ["a:9092"], "offset-refresh": "x"}}}, indent="\t")

    assert refused(tmp_path, text, "burrow.json")[0].startswith("burrow.json:7: cluster.local.offset-refresh: ")


def test_names_of_clusters_do_not_know_upper_and_lower_case(tmp_path: Path) -> None:
    """D66: Burrow accepts the file, and then drops every commit."""
    assert load(tmp_path, BURROW).config.consumer["local"].cluster == "local"


@pytest.mark.parametrize(
    "written",
    [
        '"spark.executor.cores" = "2"\n"spark.dynamicAllocation.enabled" = "true"',
        "spark.executor.cores = 2\nspark.dynamicAllocation.enabled = true",
    ],
)
def test_settings_of_spark_are_called_as_spark_calls_them(tmp_path: Path, written: str) -> None:
    config = load(tmp_path, SMALL + f"[Spark.Settings]\n{written}\n").config

    assert {name: one.get_secret_value() for name, one in config.spark.settings.items()} == {
        "spark.executor.cores": "2",
        "spark.dynamicAllocation.enabled": "true",
    }


def test_a_consumer_without_servers_reads_its_clusters(tmp_path: Path) -> None:
    assert load(tmp_path, BURROW).config.consumer["local"].servers == ["a:9092", "b:9092"]


def test_several_servers_may_stand_in_one_text(tmp_path: Path) -> None:
    config = load(tmp_path, '[cluster.local]\nservers = "a:9092 b:9092"\n').config

    assert config.cluster["local"].servers == ["a:9092", "b:9092"]


def test_a_client_profile_becomes_settings_of_the_kafka_client(tmp_path: Path) -> None:
    config = load(tmp_path, BURROW).config

    assert client_settings(config, ["a:9092", "b:9092"], "Prod") == {
        "bootstrap.servers": "a:9092,b:9092",
        "client.id": "watcher",
        "socket.connection.setup.timeout.ms": 7000,
        "socket.timeout.ms": 30000,
        "security.protocol": "SASL_SSL",
        "ssl.ca.location": "ca.pem",
        "enable.ssl.certificate.verification": True,
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.username": "warren",
        "sasl.password": "hunter2",
    }


@pytest.mark.parametrize("host", ["kafka-1", "a.b.example.com.", "10.0.0.1", "[::1]", "kafka_1"])
def test_hosts_of_servers(tmp_path: Path, host: str) -> None:
    assert load(tmp_path, SMALL.replace("a:9092", f"{host}:9092")).config.cluster["local"].servers == [f"{host}:9092"]


@pytest.mark.parametrize("address", ["a", "a:", "a:x", "a:70000", "::1:9092", "10.0.0.300:1", "a_b_c:1", "-a:1", ":1"])
def test_addresses_that_are_none(tmp_path: Path, address: str) -> None:
    told = refused(tmp_path, SMALL.replace("a:9092", address))

    assert told[0].startswith("burrow.toml:3: cluster.local.servers.0: must be host:port")


def test_a_broker_alone_is_enough() -> None:
    config = for_bootstrap("127.0.0.1:9092", "127.0.0.1:8000")

    assert list(config.cluster) == ["local"]
    assert config.consumer["local"].servers == ["127.0.0.1:9092"]
    assert config.general.pidfile == ""
    assert [section.use for section in config.rules.values()] == ["warren"]


# -- files that users of Burrow have ---------------------------------------------------------------------------------


def test_a_published_file_with_a_client_profile_is_taken_with_a_warning_for_each_old_name(tmp_path: Path) -> None:
    text = (PUBLISHED / "with-client-profile.toml").read_text()
    config, _, warnings = load(tmp_path, text.replace("KAFKA", "k:9092").replace("ZOOKEEPER", "z:2181"))

    assert warnings == [
        "burrow.toml:8: logging.maxsize: is called max-size now",
        "burrow.toml:9: logging.maxbackups: is called max-backups now",
        "burrow.toml:10: logging.maxage: is called max-age now",
        "burrow.toml:11: logging.use-localtime: is called use-local-time now",
        "burrow.toml:21: client-profile.logis-dev-client.kafka-version: is written 0.10.2.0 now; "
        "Warren asks the brokers, so it can be left out",
        "burrow.toml:35: consumer.logis-dev.group-blacklist: is called group-denylist now",
        "burrow.toml:36: consumer.logis-dev.group-whitelist: is called group-allowlist now",
        "burrow.toml:44: consumer.logis-dev-zk.group-blacklist: is called group-denylist now",
        "burrow.toml:45: consumer.logis-dev-zk.group-whitelist: is called group-allowlist now",
    ]
    assert config.logging.max_backups == 30
    assert config.consumer["logis-dev"].group_denylist == "^(console-consumer-|python-kafka-consumer-|quick-).*$"


def test_a_published_file_without_a_client_profile_is_taken(tmp_path: Path) -> None:
    text = (PUBLISHED / "without-client-profile.toml").read_text().replace("KAFKA", "k:9092")
    config = load(tmp_path, text).config

    assert config.listeners["listener"].timeout == 300
    assert config.the_storage.min_distance == 1


def test_an_old_name_beside_the_new_one_is_refused(tmp_path: Path) -> None:
    text = f'{SMALL}group-blacklist = "a"\ngroup-denylist = "b"\n'

    [told] = refused(tmp_path, text)
    assert told.startswith("burrow.toml:7: consumer.local.group-blacklist: is the old name of group-denylist, which is")


@pytest.mark.parametrize(("level", "taken"), [("WARN", "warn"), ("warning", "warn"), ("loud", "info")])
def test_a_level_that_is_none_is_told_and_another_one_taken(tmp_path: Path, level: str, taken: str) -> None:
    config, _, warnings = load(tmp_path, f'[logging]\nlevel = "{level}"\n')

    assert config.logging.level == taken
    assert len(warnings) == (level != "WARN")


# -- the environment -------------------------------------------------------------------------------------------------


def test_a_variable_overrides_a_key(tmp_path: Path) -> None:
    config, origins, _ = load(tmp_path, BURROW, BURROW_CLUSTER_LOCAL_OFFSET_REFRESH="5")

    assert config.cluster["local"].offset_refresh == 5
    assert origins["cluster", "local", "offset-refresh"] == "environment variable BURROW_CLUSTER_LOCAL_OFFSET_REFRESH"
    assert origins["cluster", "local", "topic-refresh"] == "burrow.toml:34"


def test_our_own_prefix_comes_before_burrows(tmp_path: Path) -> None:
    config = load(tmp_path, SMALL, BURROW_LOGGING_LEVEL="warn", WARREN_LOGGING_LEVEL="debug").config

    assert config.logging.level == "debug"


def test_lists_in_variables_have_spaces_and_maps_are_json(tmp_path: Path) -> None:
    text = SMALL + '[notifier.x]\nclass-name = "null"\ntemplate-open = "a"\n'
    config = load(tmp_path, text, BURROW_CLUSTER_LOCAL_SERVERS="b:1 c:2", BURROW_NOTIFIER_X_EXTRAS='{"a": "b"}').config

    assert config.cluster["local"].servers == ["b:1", "c:2"]
    assert config.notifier["x"].extras["a"].get_secret_value() == "b"


def test_a_variable_that_does_not_fit_is_named(tmp_path: Path) -> None:
    text = SMALL + '[notifier.x]\nclass-name = "null"\ntemplate-open = "a"\n'
    told = refused(tmp_path, text, BURROW_CLUSTER_LOCAL_TOPIC_REFRESH="5s", BURROW_NOTIFIER_X_EXTRAS="[1]")

    assert told == [
        "environment variable BURROW_CLUSTER_LOCAL_TOPIC_REFRESH: cluster.local.topic-refresh: "
        "must be a number without a unit, such as 60",
        "environment variable BURROW_NOTIFIER_X_EXTRAS: notifier.x.extras: "
        "BURROW_NOTIFIER_X_EXTRAS must hold a JSON object of texts",
    ]


def test_the_prefix_is_the_files_and_only_the_files(tmp_path: Path) -> None:
    text = f'[general]\nenv-var-prefix = "lag-1.x"\n{SMALL}'
    config = load(tmp_path, text, LAG_1_X_LOGGING_LEVEL="error", LAG_1_X_GENERAL_ENV_VAR_PREFIX="other").config

    assert (config.logging.level, config.general.env_var_prefix) == ("error", "lag-1.x")


def test_an_empty_variable_and_one_for_a_module_that_is_not_there_are_ignored(tmp_path: Path) -> None:
    config = load(tmp_path, SMALL, BURROW_LOGGING_LEVEL="", BURROW_CLUSTER_OTHER_SERVERS="b:1").config

    assert (config.logging.level, list(config.cluster)) == ("info", ["local"])


# -- what is refused -------------------------------------------------------------------------------------------------


def test_everything_that_is_wrong_is_told_in_one_go_with_its_line_and_without_secrets(tmp_path: Path) -> None:
    text = BURROW.replace("intervals = 15", 'intervals = "ten"').replace("min-distance", "min-distanse")
    text = text.replace('group-denylist = "^(console-consumer-).*$"', 'group-denylist = "(?!a)"')
    text = text.replace('password = "hunter2"', 'password = ["hunter2"]').replace('"a:9092"', '"a"')
    text = text.replace("[tls.corp]", "[tls.other]") + '\n[storage.more]\nclass-name = "memory"\n[clustre.x]\n'

    assert refused(tmp_path, text) == [
        "burrow.toml:8: client-profile.prod.tls: there is no [tls.corp]; there is other",
        'burrow.toml:18: sasl.user.password: must be a text in quotes, such as "..."',
        "burrow.toml:26: storage.default.intervals: must be a number without a unit, such as 10",
        "burrow.toml:28: storage.default.min-distanse: there is no such key; did you mean min-distance?",
        'burrow.toml:32: cluster.local.servers.0: must be host:port, such as "a:9092"',
        "burrow.toml:41: consumer.local.group-denylist: not a regular expression (invalid perl operator: (?!); "
        "it must be one of RE2, which has no look-around",
        "burrow.toml:43: storage.more: is one too many: there can be only one storage; remove the others",
        "burrow.toml:44: storage.more.class-name: must be one of 'inmemory'",
        "burrow.toml:45: clustre: there is no such section; did you mean cluster?",
    ]


def test_a_reference_to_nothing_is_told(tmp_path: Path) -> None:
    told = refused(tmp_path, BURROW.replace("[client-profile.Prod]", "[client-profile.other]"))

    assert "burrow.toml:33: cluster.local.client-profile: there is no [client-profile.Prod]; there is other" in told
    assert "burrow.toml:40: consumer.local.client-profile: there is no [client-profile.Prod]; there is other" in told


def test_a_consumer_of_no_cluster_is_told(tmp_path: Path) -> None:
    told = refused(tmp_path, SMALL.replace('cluster = "local"', 'cluster = "other"'))

    assert told == ["burrow.toml:6: consumer.local.cluster: there is no [cluster.other]; there is local"]


def test_what_is_needed_is_told_with_what_it_is(tmp_path: Path) -> None:
    told = refused(tmp_path, "[cluster.local]\n[consumer.local]\n[httpserver.default]\n")

    assert told == [
        "burrow.toml:1: cluster.local.servers: is needed: host:port of some brokers",
        "burrow.toml:2: consumer.local.cluster: is needed: name of a [cluster.NAME]",
        "burrow.toml:3: httpserver.default.address: is needed: host:port to listen on; without a host on all addresses",
    ]


def test_a_section_without_its_name_is_told(tmp_path: Path) -> None:
    assert refused(tmp_path, "[storage]\nintervals = 10\n") == [
        "burrow.toml:2: storage.intervals: is no key of [storage]; the section needs a name: [storage.NAME]"
    ]
    assert refused(tmp_path, "general = 1\n") == ["burrow.toml:1: general: must be a section: [general]"]


@pytest.mark.parametrize(
    ("keys", "missing"),
    [
        ('class-name = "http"', ["url-open"]),
        ('class-name = "http"\nurl-open = "http://x"\nsend-close = true', ["url-close", "template-close"]),
        ('class-name = "email"', ["server", "port", "from", "to"]),
        ('class-name = "null"', []),
    ],
)
def test_a_notifier_needs_what_its_class_needs(tmp_path: Path, keys: str, missing: list[str]) -> None:
    text = f'[notifier.x]\n{keys}\ntemplate-open = "a"\n'
    told = refused(tmp_path, text) if missing else []

    assert [line.split(": ")[1] for line in told] == [f"notifier.x.{key}" for key in missing]


def test_a_listener_with_tls_needs_a_certificate_and_its_key(tmp_path: Path) -> None:
    text = '[httpserver.x]\naddress = ":1"\ntls = "web"\n[tls.web]\ncertfile = "a.pem"\n'

    assert refused(tmp_path, text) == [
        "burrow.toml:3: httpserver.x.tls: [tls.web] needs certfile and keyfile for a listener"
    ]


def test_a_key_that_stands_there_in_upper_and_in_lower_case_is_told(tmp_path: Path) -> None:
    told = refused(tmp_path, SMALL + '[cluster.LOCAL]\nservers = ["b:1"]\n')

    assert told == ["burrow.toml:2: cluster.local: stands there twice"]


def test_a_token_instead_of_its_hash_is_refused_without_being_shown(tmp_path: Path) -> None:
    told = refused(tmp_path, '[security]\nwrite-tokens = ["open-sesame"]\n')

    assert told[0].startswith("burrow.toml:2: security.write-tokens.0: must be a hash, not the token itself")
    assert "sesame" not in told[0]


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("burrow.toml", "[general]\npidfile = \n", "is not valid TOML: .* line 2"),
        ("burrow.yaml", "general:\n  a: [\n", r"burrow.yaml:3 is not valid YAML"),
        ("burrow.yaml", "general:\n  a: 1\n  a: 2\n", r'burrow.yaml:2 is not valid YAML: "a" stands there twice'),
        ("burrow.json", '{\n"general": }', r"burrow.json:2 is not valid JSON"),
        ("burrow.json", "[]", "holds no sections"),
    ],
)
def test_a_file_that_cannot_be_read_says_where(tmp_path: Path, name: str, text: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        load(tmp_path, text, name)


def test_a_file_that_is_not_utf8_says_so(tmp_path: Path) -> None:
    (tmp_path / "burrow.toml").write_bytes(b"# caf\xe9\n")

    with pytest.raises(ConfigError, match="is not UTF-8: byte 5 is 0xe9"):
        load_directory(tmp_path, {})


def test_a_directory_without_a_configuration_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"neither a warren.toml nor a burrow.toml .* Give its directory"):
        load_directory(tmp_path, {})


def test_of_several_files_the_first_is_read_and_the_others_are_told(tmp_path: Path) -> None:
    (tmp_path / "burrow.json").write_text("{}")
    loaded = load(tmp_path, SMALL, "warren.toml")

    assert list(loaded.config.cluster) == ["local"]
    assert loaded.warnings == [f"{tmp_path / 'burrow.json'} is not read: warren.toml comes first."]


def test_an_empty_file_is_burrows_defaults(tmp_path: Path) -> None:
    assert load(tmp_path, "", "burrow.yaml").config == Config()
