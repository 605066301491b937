"""The command line, thin: reads arguments, starts the app, turns our errors into one sentence and exit code 1."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from warren import __version__
from warren.errors import ConfigError, WarrenError

DEFAULT_HTTP = "127.0.0.1:8000"

cli = typer.Typer(
    name="warren",
    help="Kafka consumer-lag monitoring without thresholds; a drop-in for Burrow.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


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
        Path | None, typer.Option("--config-dir", help="Directory with warren.toml or burrow.toml.")
    ] = None,
    bootstrap: Annotated[
        str | None, typer.Option(help="HOST:PORT of a broker: watch it as cluster `local`, without any file.")
    ] = None,
) -> None:
    """Watch the clusters of a configuration, or one broker."""
    from warren.config.load import for_bootstrap, load_directory
    from warren.logs import configure_logging

    if (config_dir is None) == (bootstrap is None):
        message = "Give either --config-dir DIR or --bootstrap HOST:PORT."
        raise ConfigError(message)
    warnings: list[str] = []
    if bootstrap is not None:
        config = for_bootstrap(bootstrap, http_address())
    else:
        assert config_dir is not None
        config, warnings = load_directory(config_dir)
    configure_logging()
    for warning in warnings:
        typer.echo(f"Warning: {warning}", err=True)
    _run_until_signal(config)


def _run_until_signal(config: object) -> None:
    from warren.app import App
    from warren.config.model import Config

    assert isinstance(config, Config)
    app = App(config, home_directory())
    on_stop_signals(app.finished.set)
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


def main() -> None:
    """Entry point of the `warren` command."""
    try:
        cli()
    except WarrenError as error:
        typer.echo(f"warren: {error}", err=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
