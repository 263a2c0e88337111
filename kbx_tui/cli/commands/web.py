"""`kbx web`: the app in a browser."""

from __future__ import annotations

import asyncio
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kbx_tui.cli.base_command import Command, global_options
from kbx_tui.cli.open_kb import selected_root
from kbx_tui.cli.options import allow_writes_option, metrics_options
from kbx_tui.cli.output import say, say_monitored
from kbx_tui.ending import on_signal
from kbx_tui.errors import ConfigError, KbxError
from kbx_tui.user_files import open_log

if TYPE_CHECKING:
    from kbx_tui.web.serving import WebServer


DEFAULT_HOST, DEFAULT_PORT = "127.0.0.1", 8800


@click.command(name="web", cls=Command)
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path(path_type=Path))
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=DEFAULT_PORT,
    show_default=True,
    metavar="N",
    help="Port to listen on; 0 picks a free one.",
)
@click.option(
    "--host",
    show_default=DEFAULT_HOST,
    metavar="H",
    help="Address to listen on. One that other machines can reach needs --certfile, or "
    "--insecure-bind.",
)
@allow_writes_option("Let visitors change and add notes.")
@click.option(
    "--max-clients",
    type=click.IntRange(1, 1000),
    default=8,
    show_default=True,
    metavar="N",
    help="Sessions at a time; each is a process.",
)
@click.option(
    "--idle-minutes",
    type=click.IntRange(1, 10_080),
    default=120,
    show_default=True,
    metavar="N",
    help="End a session after this time without a key or click.",
)
@click.option(
    "--memory-mb",
    type=click.IntRange(2_000, 1_000_000),
    default=4_000,
    show_default=True,
    metavar="N",
    help="Memory that one session may reserve for itself; it uses about a quarter.",
)
@click.option(
    "--certfile",
    type=click.Path(path_type=Path),
    metavar="F",
    help="Certificate in PEM, to serve https.",
)
@click.option(
    "--keyfile", type=click.Path(path_type=Path), metavar="F", help="Its private key in PEM."
)
@click.option(
    "--base-url",
    default="",
    metavar="URL",
    help="Path or whole address at which a proxy serves the page: /kbx.",
)
@click.option(
    "--insecure-bind",
    is_flag=True,
    help="Listen for other machines without encryption: everyone on the way can read along.",
)
@click.option(
    "--new-link",
    is_flag=True,
    help="Print another link of the server that runs on --port, for a second device.",
)
@metrics_options
@click.option("--open", "opens", is_flag=True, help="Open the link in the browser of this machine.")
def command(
    paths: tuple[Path, ...],
    port: int,
    host: str | None,
    allow_writes: bool,
    max_clients: int,
    idle_minutes: int,
    memory_mb: int,
    certfile: Path | None,
    keyfile: Path | None,
    base_url: str,
    insecure_bind: bool,
    new_link: bool,
    metrics_port: int | None,
    metrics_host: str,
    opens: bool,
) -> None:
    """Serve the app to browsers, for reading only.

    Each PATH is a knowledge base that visitors see; nothing else on this machine is shown to them.
    The link that is printed admits one browser, once. ctrl+c ends the server and all sessions.
    docs/web.md explains what is safe, and how to reach the server from elsewhere.

    \b
    Examples:
      kbx web
      kbx web ~/notes ~/work --port 9000
      kbx web --new-link
      kbx web --allow-writes --max-clients 2
      kbx web --host 0.0.0.0 --certfile cert.pem --keyfile key.pem
      kbx web --max-clients 20 --metrics-port 9465
      kbx web --base-url https://notes.example.org/kbx
    """
    _require_support()
    from kbx_tui.web.links import ask_for_link

    if new_link:
        click.echo(ask_for_link(port, host))
        return
    from kbx_tui.http_service.monitor import listen_for_monitoring
    from kbx_tui.web.app_process import app_command, fork_command
    from kbx_tui.web.browser_session import MB, Limits
    from kbx_tui.web.links import listen
    from kbx_tui.web.serving import WebServer, follower_command

    bases = _bases(paths)
    monitor = None if metrics_port is None else listen_for_monitoring(metrics_host, metrics_port)
    listening = listen(
        host or DEFAULT_HOST,
        port,
        base_url=base_url,
        certificate=_certificate(certfile, keyfile),
        insecure_bind=insecure_bind,
    )
    limits = Limits(
        sessions=max_clients, idle_seconds=60.0 * idle_minutes, memory_bytes=memory_mb * MB
    )
    program = app_command(bases, allow_writes=allow_writes, memory_bytes=limits.memory_bytes)
    followers = [follower_command(base, trust=global_options().trust) for base in bases]
    can = "visitors may write" if allow_writes else "for reading only"
    say(f"serving {', '.join(map(str, bases))}, {can}")
    if monitor is not None:
        say_monitored(monitor)
    _serve(
        WebServer(listening, program, limits, followers, fork_command(program), monitor),
        opens=opens,
    )


def _serve(server: WebServer, *, opens: bool) -> None:
    def print_link() -> None:
        link = server.new_link()
        click.echo(link)
        port = server.listening.port
        named = "" if port == DEFAULT_PORT else f" --port {port}"
        say(f"the link is valid once; `kbx web --new-link{named}` prints another; ctrl+c ends all")
        if opens:
            # Some browsers are waited for until they are closed, and ask the server meanwhile.
            threading.Thread(target=_open_browser, args=(link, port), daemon=True).start()

    open_log()
    with on_signal(server.stop):
        asyncio.run(server.serve(print_link))


def _open_browser(link: str, port: int) -> None:
    from kbx_tui.web.links import open_browser

    try:
        is_open, reason = open_browser(link, port), "none was found"
    except (KbxError, OSError) as error:
        is_open, reason = False, str(error)
    if not is_open:
        say(f"the browser of this machine cannot be opened: {reason}; open the link yourself")


def _bases(paths: tuple[Path, ...]) -> list[Path]:
    """Return the roots of the bases to show. Raises NotFound."""
    from kbx_tui.base_discovery import find_base

    given = [*global_options().kb, *paths]
    if not given:
        return [selected_root().resolve()]
    return list(dict.fromkeys(find_base(path).resolve() for path in given))


def _certificate(certfile: Path | None, keyfile: Path | None) -> tuple[Path, Path] | None:
    if (certfile is None) != (keyfile is None):
        raise ConfigError("--certfile and --keyfile are given together: a certificate and its key")
    return None if certfile is None or keyfile is None else (certfile, keyfile)


def _require_support() -> None:
    """Raise KbxError where the server cannot run."""
    if sys.platform == "win32":
        raise KbxError("`kbx web` does not run on Windows; in WSL it does")
    try:
        import aiohttp  # noqa: F401
    except ImportError as error:
        raise KbxError(
            "`kbx web` needs the extra `web`: install kbx-tui[web], as in "
            "`uv tool install 'kbx-tui[web]'`"
        ) from error
