"""The command line, thin: reads arguments, starts the app, turns our errors into one sentence and an exit code."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from datetime import datetime
from importlib.metadata import distribution
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from warren import __version__
from warren.commands import describe, doctor, live, plan, replay, show, views
from warren.commands.alerts import silence_commands, template_commands
from warren.commands.dashboards import dashboard_commands
from warren.commands.options import AsJson, UsageError
from warren.errors import WarrenError

if TYPE_CHECKING:
    from warren.config.model import Config

DEFAULT_HTTP = "127.0.0.1:8000"
USAGE_CODE = 2
"""As for options that there are not."""

cli = typer.Typer(
    name="warren",
    help="Kafka consumer-lag monitoring without thresholds; a drop-in for Burrow.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


cli.command("clusters")(views.list_clusters)
cli.command("groups")(views.list_groups)
cli.command("group")(views.show_group)
cli.command("explain")(views.explain)
cli.command("topics")(views.list_topics)
cli.command("topic")(views.show_topic)
cli.command("incidents")(views.list_incidents)
cli.command("top")(live.top)
cli.command("watch")(live.watch)
cli.command("describe")(describe.describe)
cli.command("replay")(replay.replay)
cli.command("plan")(plan.plan)
cli.command("doctor")(doctor.doctor)
cli.add_typer(silence_commands, name="silence")
cli.add_typer(template_commands, name="template")
cli.add_typer(dashboard_commands, name="dashboards")


def home_directory() -> Path:
    """Where Warren keeps its data: `WARREN_HOME`, or `.warren` in the working directory."""
    return Path(os.environ.get("WARREN_HOME") or ".warren").absolute()


def http_address() -> str:
    """The address to listen on without a configuration file."""
    return os.environ.get("WARREN_HTTP") or DEFAULT_HTTP


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"warren {__version__}")
        raise typer.Exit


@cli.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


@cli.command()
def run(
    config_dir: Annotated[
        Path | None,
        typer.Option("--config-dir", "-config-dir", help="Directory with the configuration; the current one if none."),
    ] = None,
    bootstrap: Annotated[
        str | None, typer.Option(help="HOST:PORT of a broker: watch it as cluster `local`, without any file.")
    ] = None,
) -> None:
    """Watch the clusters of a configuration, or one broker."""
    from warren.config.load import for_bootstrap

    if config_dir is not None and bootstrap is not None:
        message = "Either a configuration or a broker is to be watched."
        raise UsageError(message, hint="Give --config-dir DIR or --bootstrap HOST:PORT.")
    if bootstrap is not None:
        _run_until_signal(for_bootstrap(bootstrap, http_address()), lambda: for_bootstrap(bootstrap, http_address()))
        return
    directory = config_dir or Path()
    typer.echo(f"Reading configuration from {directory}", err=True)
    _run_until_signal(_loaded(directory), lambda: _loaded(directory))
    typer.echo(f"Stopped Warren at {datetime.now().astimezone():%Y-%m-%d %H:%M:%S %z}", err=True)


@cli.command("check-config")
def check_config(
    directory: Annotated[Path, typer.Argument(help="Directory with the configuration.")] = Path(),
    as_json: AsJson = False,
) -> None:
    """Say what a configuration comes to, and where each value is from, without connecting to anything."""
    from warren.config.effective import as_text, effective
    from warren.config.load import load_directory
    from warren.notify.setup import make_notifiers
    from warren.sinks.setup import make_sinks

    loaded = load_directory(directory, os.environ)
    make_sinks(loaded.config)
    loaded.warnings.extend(make_notifiers(loaded.config).warnings)
    found = list(effective(loaded))
    if as_json:
        rows = [one._asdict() for one in found]
        show.as_json({"config": rows, "warnings": loaded.warnings})
        return
    typer.echo(as_text(found))
    for warning in loaded.warnings:
        typer.echo(f"Warning: {warning}", err=True)


config_commands = typer.Typer(help="About configuration files.", no_args_is_help=True)
cli.add_typer(config_commands, name="config")


@config_commands.command("reference")
def config_reference() -> None:
    """Print a file with every section and key, its default and what it is for."""
    from warren.config.reference import reference

    typer.echo(reference(), nl=False)


@config_commands.command("init")
def config_init(
    directory: Annotated[Path, typer.Argument(help="Directory to write warren.toml to.")] = Path(),
    *,
    bootstrap: Annotated[str, typer.Option(help="Brokers to ask first, separated by commas.")] = "localhost:9092",
    cluster: Annotated[str, typer.Option(help="Name of the cluster.")] = "local",
) -> None:
    """Write a configuration to start from, with the recommended rule set."""
    from warren.config.starter import write_starter

    path = write_starter(directory, bootstrap.split(","), cluster)
    typer.echo(f"{path} written. Start Warren with: warren run --config-dir {directory}")


@cli.command()
def pack(
    file: Annotated[Path, typer.Argument(help="The file to write, such as warren-environment.tar.gz.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Pack the Python packages that Spark brings to the executors of a cluster ([spark] environment)."""
    from warren.pipeline.environment import pack as pack_environment
    from warren.pipeline.environment import python_name

    found, needs = pack_environment(file), {"python": python_name(), "pyspark": distribution("pyspark").version}
    if as_json:
        show.as_json({"file": str(file), **found._asdict(), "executors_need": needs})
        return
    typer.echo(f"{file}: {len(found.packages)} packages and Warren, {found.bytes / 1e6:.0f} MB")
    typer.echo(f"Executors need {needs['python']} and the Spark of PySpark {needs['pyspark']}.")


@cli.command("hash-token")
def hash_token(
    token: Annotated[str | None, typer.Argument(help="The token; without one a new one is made and shown.")] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Make the hash of a token for the section `security`; only the hash stands in the configuration."""
    from warren.serve.access import hash_token as hash_of
    from warren.serve.access import new_token

    chosen = token or new_token()
    if as_json:
        show.as_json({"token": None if token else chosen, "hash": hash_of(chosen)})
        return
    if not token:
        typer.echo(f"token: {chosen}")
    typer.echo(f"hash:  {hash_of(chosen)}")


def _loaded(directory: Path) -> Config:
    from warren.config.load import load_directory

    loaded = load_directory(directory, os.environ)
    for warning in loaded.warnings:
        typer.echo(f"Warning: {warning}", err=True)
    return loaded.config


def _run_until_signal(config: Config, load_again: Callable[[], Config]) -> None:
    from warren.app import App
    from warren.machine.logs import LogLevel, configure_logging, log_stream
    from warren.machine.process import pid_file, redirect_output

    with pid_file(config.general.pidfile):
        redirect_output(config.general.stdout_logfile)
        level = LogLevel(config.logging.level)
        configure_logging(level, log_stream(config.logging))
        app = App(config, home_directory(), level)
        on_stop_signals(app.finished.set)
        on_reload_signal(lambda: app.reload_from(load_again))
        app.start()
        app.finished.wait()
        app.stop()
    if app.failure is not None:
        raise app.failure


@cli.command()
def demo() -> None:
    """Start a Kafka broker, a workload with all kinds of trouble, and Warren watching it."""
    from warren.demo.run import run_demo

    run_demo(home_directory(), http_address())


def on_stop_signals(stop: Callable[[], None]) -> None:
    """Call `stop` on Ctrl-C, SIGTERM or SIGQUIT; a second one ends the process at once."""
    stopping = threading.Event()

    def handle(number: int, frame: object) -> None:
        if stopping.is_set():
            os._exit(128 + number)
        stopping.set()
        stop()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT):
        signal.signal(number, handle)


def on_reload_signal(reload: Callable[[], None]) -> None:
    """Call `reload` on SIGHUP, in a thread of its own."""

    def handle(number: int, frame: object) -> None:
        threading.Thread(target=reload, name="reload", daemon=True).start()

    signal.signal(signal.SIGHUP, handle)


def main() -> None:
    """Entry point of the `warren` command."""
    try:
        cli()
    except WarrenError as error:
        typer.echo(f"warren: {error}", err=True)
        sys.exit(USAGE_CODE if isinstance(error, UsageError) else 1)


if __name__ == "__main__":
    main()
