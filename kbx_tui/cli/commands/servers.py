"""`kbx mcp`, `kbx install-agent`, `kbx jsonl`, `kbx tool`: for agents and programs; `kbx web`."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kbx_tui.cli.base_command import EXIT_OK, Command, global_options, open_kb, selected_root
from kbx_tui.cli.options import (
    PATH,
    PORT,
    PROGRAM_NAMES,
    flag,
    json_option,
    metrics_options,
    option,
    warm_option,
)
from kbx_tui.cli.output import print_json, print_result, say, wants_json
from kbx_tui.ending import end_soon, end_with_input, on_signal
from kbx_tui.errors import ConfigError, KbxError, NotFound
from kbx_tui.safe_text import replace_surrogates
from kbx_tui.system import require_unix
from kbx_tui.user_files import open_log

if TYPE_CHECKING:
    from kbx_tui.http_service.monitor import MonitorPort
    from kbx_tui.tools.engine_worker import McpOptions
    from kbx_tui.web.serving import WebServer


HTTP_OPTIONS = "host port token_file workers max_requests metrics_port metrics_host"


@click.command(name="mcp", cls=Command)
@flag("--http", "Serve streamable HTTP instead of stdin and stdout.")
@option("--host H", "Loopback address for --http.", default="127.0.0.1")
@option("--port N", "Port for --http; 0 picks a free one.", PORT, default=8765)
@option(
    "--token-file F",
    "With --http, serve only clients that send the token in this file; default: KBX_TOKEN.",
    PATH,
)
@option(
    "--workers N",
    "Processes that answer --http; they share what is mapped of the index.",
    click.IntRange(1, 64),
    default=1,
)
@option(
    "--max-requests N",
    "Requests that each process of --http takes at a time; more are asked to try again.",
    click.IntRange(1, 1000),
    default=16,
)
@metrics_options
@click.option(
    "--allow-writes",
    "writes",
    is_flag=False,
    flag_value="review",
    metavar="[=direct]",
    type=click.Choice(["review", "direct"]),
    help="Offer the tools that add and change facts. You review what agents write, in the app or "
    "with `kbx inbox`; with =direct it is written at once.",
)
@flag("--list-all lists_all", "List every tool, and the schema of every answer, for programs.")
@warm_option
def mcp_command(
    http: bool,
    host: str,
    port: int,
    token_file: Path | None,
    workers: int,
    max_requests: int,
    metrics_port: int | None,
    metrics_host: str,
    writes: str | None,
    lists_all: bool,
    warm: bool,
) -> None:
    """Serve agents over the Model Context Protocol.

    Requests and answers go over stdin and stdout. While no call is running, the
    index follows the files. docs/mcp.md has the configuration of common clients, docs/serving.md
    says how to serve many.

    \b
    Examples:
      kbx mcp
      kbx --kb ~/notes mcp --allow-writes
      kbx --kb ~/notes mcp --allow-writes=direct
      kbx mcp --http --port 8765
      kbx mcp --http --token-file ~/.config/kbx-token
      kbx mcp --http --workers 4 --metrics-port 9464
    """
    _require_http(http=http, metrics=metrics_port is not None)
    options = _engine_options(
        allow_writes=writes is not None, reviews=writes == "review", warm=warm, lists_all=lists_all
    )
    if http:
        from kbx_tui.tools.mcp_http import access_token, listen, serve_one, serve_several

        if workers > 1:  # they inherit the socket
            require_unix("--workers above 1")
        options = replace(
            options,
            root=str(Path(options.root).resolve()),
            token=access_token(token_file, os.environ),
            max_requests=max_requests,
        )
        monitor = _monitor(metrics_host, metrics_port)
        listening, url = listen(host, port)
        say(f"serving MCP on {url}" + ("; clients must send the token" if options.token else ""))
        _say_monitored(monitor)
        if workers > 1:
            serve_several(options, workers, listening, monitor)
            return
    worker = options.engine()
    if http:
        serve_one(options, worker, listening, monitor)
    else:
        with end_with_input():
            import asyncio

            from kbx_tui.tools.mcp_server import serve_stdio

        asyncio.run(serve_stdio(worker, lists_all=lists_all))
    end_soon(EXIT_OK)  # do not wait for a longer call: the client is gone
    worker.close()


def _engine_options(**fields: Any) -> McpOptions:
    """Return the options of the engine for the selected base.

    Raises NotFound and ConfigError now, while the user sees them; an agent would not show them.
    """
    from kbx_tui.tools.engine_worker import McpOptions

    root = str(selected_root(may_be_empty=True))
    return McpOptions(root, trust=global_options().trust, **fields)


def _monitor(host: str, port: int | None) -> MonitorPort | None:
    from kbx_tui.http_service.monitor import listen_for_monitoring

    return None if port is None else listen_for_monitoring(host, port)


def _say_monitored(port: MonitorPort | None) -> None:
    if port is not None:
        others = "; other machines can read them" if port.is_open_to_others else ""
        say(f"metrics on {port.url}{others}")


def _require_http(*, http: bool, metrics: bool) -> None:
    """Raise ConfigError for an option that needs --http, such as --workers on stdio."""
    context = click.get_current_context()
    given = [
        f"--{name.replace('_', '-')}"
        for name in HTTP_OPTIONS.split()
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
    ]
    if given and not http:
        raise ConfigError(f"{given[0]} needs --http")
    if "--metrics-host" in given and not metrics:
        raise ConfigError("--metrics-host needs --metrics-port")


@click.command(name="jsonl", cls=Command)
@flag("--allow-writes", "Offer the methods that add and change facts.")
@warm_option
def jsonl_command(allow_writes: bool, warm: bool) -> None:
    """Serve programs, one JSON object per line.

    Each request line on stdin is answered by one line on stdout. While no call is running, the
    index follows the files.

    \b
    Examples:
      kbx jsonl
      kbx jsonl < requests.jsonl > responses.jsonl
      kbx --kb ~/notes jsonl --allow-writes
    """
    from kbx_tui.tools.jsonl_server import serve_stdio

    worker = _engine_options(allow_writes=allow_writes, warm=warm).engine()
    serve_stdio(worker)
    end_soon(EXIT_OK)  # do not wait for a longer call: the client is gone
    worker.close()


@click.command(name="tool", cls=Command)
@click.argument("name", required=False, metavar="[NAME]")
@click.argument("arguments", required=False, default="{}", metavar="[JSON]")
@flag("--voice", "Answer for reading aloud: at most 3 results.")
@flag("--allow-writes", "Allow the tools that add and change facts.")
@flag("--schema", "Print the tool's schemas instead of calling it.")
def tool_command(
    name: str | None, arguments: str, voice: bool, allow_writes: bool, schema: bool
) -> int:
    """Call a tool as an agent would.

    The arguments are a JSON object, and the answer is printed as JSON. Without NAME, the tools are
    listed. The exit code is 1 when the answer reports a failure.

    \b
    Examples:
      kbx tool
      kbx tool kb_search '{"query": "who worked on the migration?"}' --voice
      kbx tool kb_get '{"id": "person:alice-chen"}'
      kbx tool kb_experts --schema
    """
    from kbx_tui.tools.methods import METHODS

    if name is None:
        for method in METHODS.values():
            click.echo(f"{method.tool:<26} {method.title}{' (writes)' * method.writes}")
        return 0
    if schema:
        print_json(_schema(name))
        return 0
    from kbx_tui.tools.dispatch import answer_call

    parameters = _parse_object(arguments)
    if voice:
        parameters["capabilities"] = {"voice": True}
    answer = answer_call(open_kb, name, parameters, allow_writes=allow_writes)
    print_json(answer.json)
    return 1 if answer.failure else 0


def _parse_object(text: str) -> dict[str, Any]:
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise click.UsageError("the arguments are not valid JSON") from error
    if not isinstance(parsed, dict):
        raise click.UsageError("the arguments must be a JSON object")
    return parsed


def _schema(name: str) -> dict[str, Any]:
    from kbx_tui.tools.methods import all_schemas

    schemas = all_schemas()
    if f"{name}.json" not in schemas:
        tools = ", ".join(file_name.removesuffix(".json") for file_name in schemas)
        raise click.UsageError(f"no tool is called {name!r}; the tools are: {tools}")
    return schemas[f"{name}.json"]


DEFAULT_HOST, DEFAULT_PORT = "127.0.0.1", 8800


@click.command(name="web", cls=Command)
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=PATH)
@option("--port N", "Port to listen on; 0 picks a free one.", PORT, default=DEFAULT_PORT)
@option(
    "--host H",
    "Address to listen on. One that other machines can reach needs --certfile, or --insecure-bind.",
    show_default=DEFAULT_HOST,
)
@flag("--allow-writes", "Let visitors change and add notes.")
@option(
    "--max-clients N", "Sessions at a time; each is a process.", click.IntRange(1, 1000), default=8
)
@option(
    "--idle-minutes N",
    "End a session after this time without a key or click.",
    click.IntRange(1, 10_080),
    default=120,
)
@option(
    "--memory-mb N",
    "Memory that one session may reserve for itself; it uses about a quarter.",
    click.IntRange(2_000, 1_000_000),
    default=4_000,
)
@option("--certfile F", "Certificate in PEM, to serve https.", PATH)
@option("--keyfile F", "Its private key in PEM.", PATH)
@option(
    "--base-url URL", "Path or whole address at which a proxy serves the page: /kbx.", default=""
)
@flag(
    "--insecure-bind",
    "Listen for other machines without encryption: everyone on the way can read along.",
)
@flag("--new-link", "Print another link of the server that runs on --port, for a second device.")
@metrics_options
@flag("--open opens", "Open the link in the browser of this machine.")
def web_command(
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
    from kbx_tui.web.app_process import app_command, fork_command
    from kbx_tui.web.browser_session import MB, Limits
    from kbx_tui.web.links import listen
    from kbx_tui.web.serving import WebServer, follower_command

    bases = _bases(paths)
    monitor = _monitor(metrics_host, metrics_port)
    if (certfile is None) != (keyfile is None):
        raise ConfigError("--certfile and --keyfile are given together: a certificate and its key")
    listening = listen(
        host or DEFAULT_HOST,
        port,
        base_url=base_url,
        certificate=(certfile, keyfile) if certfile and keyfile else None,
        insecure_bind=insecure_bind,
    )
    limits = Limits(
        sessions=max_clients, idle_seconds=60.0 * idle_minutes, memory_bytes=memory_mb * MB
    )
    program = app_command(bases, allow_writes=allow_writes, memory_bytes=limits.memory_bytes)
    followers = [follower_command(base, trust=global_options().trust) for base in bases]
    can = "visitors may write" if allow_writes else "for reading only"
    say(f"serving {', '.join(map(str, bases))}, {can}")
    _say_monitored(monitor)
    _serve(
        WebServer(listening, program, limits, followers, fork_command(program), monitor),
        opens=opens,
    )


def _serve(server: WebServer, *, opens: bool) -> None:
    import asyncio

    def print_link() -> None:
        link = server.new_link()
        click.echo(link)
        port = server.listening.port
        named = "" if port == DEFAULT_PORT else f" --port {port}"
        say(f"the link is valid once; `kbx web --new-link{named}` prints another; ctrl+c ends all")
        if opens:
            # Opening some browsers blocks until they close, and they need the server meanwhile.
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
    from kbx_tui.base_discovery import find_base

    given = [*global_options().kb, *paths]
    if not given:
        return [selected_root().resolve()]
    return list(dict.fromkeys(find_base(path).resolve() for path in given))


def _require_support() -> None:
    require_unix("`kbx web`")
    try:
        import aiohttp  # noqa: F401
    except ImportError as error:
        raise KbxError(
            "`kbx web` needs the extra `web`: install kbx-tui[web], as in "
            "`uv tool install 'kbx-tui[web]'`"
        ) from error


AGENT_NAMES = ("claude", "claude-desktop", "codex", "cursor", "vscode")


@click.command(name="install-agent", cls=Command)
@click.argument("agent", type=click.Choice(AGENT_NAMES))
@flag("--write", "Add the entry to the agent's settings file.")
@flag("--undo", "Remove what --write added.")
@flag("--skill", "Print what the agent should know about the tools, for its instructions.")
@flag("--allow-writes", "Offer the tools that add and change facts, which you then review.")
@option("--name NAME", "Name of the server, one for each knowledge base.", default="kbx")
@json_option
def install_agent_command(
    agent: str, write: bool, undo: bool, skill: bool, allow_writes: bool, name: str
) -> None:
    """Connect an agent to the knowledge base.

    Prints the entry for its settings file, and says which file that is. --write adds the entry;
    everything else in the file stays as it is. The agent then starts `kbx mcp` by itself.

    \b
    Examples:
      kbx install-agent claude
      kbx --kb ~/notes install-agent codex --write
      kbx --kb ~/work install-agent cursor --name work --allow-writes --write
      kbx install-agent claude --skill >> ~/.claude/CLAUDE.md
      kbx install-agent codex --undo
    """
    if write + undo + skill > 1:
        raise click.UsageError("--write, --undo and --skill exclude each other")
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name):
        raise ConfigError(f"--name {name!r} is not valid: use letters, digits, - and _")
    from kbx_tui.tools import agent_settings

    known = agent_settings.AGENTS[agent]
    data: dict[str, Any] = {"agent": agent, "name": name}
    if skill:
        text = agent_settings.skill_text(name, allow_writes=allow_writes)
        print_result({**data, "skill": text}, text.splitlines())
        if not wants_json():
            say("append this to the agent's instructions, such as CLAUDE.md or AGENTS.md")
        return
    file, entry = agent_settings.settings_file(known), None
    if not undo:
        root = selected_root(may_be_empty=True).absolute()
        if replace_surrogates(str(root)) != str(root):
            raise ConfigError(f"{root} is not valid UTF-8, as settings must be; rename the folder")
        if "${" in str(root):
            raise ConfigError(
                f"{root} contains ${{, which agents expand as a variable; rename the folder"
            )
        entry = agent_settings.server_entry(known, own_command(), root, allow_writes=allow_writes)
    written = (write or undo) and agent_settings.change_entry(known, name, entry)
    if undo and not written:
        raise NotFound(f"{file} has no server called {name}")
    shown = [f"removed {name} from {file}" if undo else f"written · {file}"] if written else []
    if entry and not write:
        shown = agent_settings.entry_text(known, name, entry).splitlines()
    print_result({**data, "file": str(file), "entry": entry, "written": written}, shown)
    if wants_json() or undo:
        return
    if not write:
        say(f"this belongs in {file}; --write adds it there")
    elif written:
        say(f"start {known.title} again to use it; --undo removes it")
    else:
        say(f"{file} says this already")


def own_command() -> list[str]:
    """Return the command that starts this program; agents may have another PATH than the shell."""
    program = sys.argv[0]
    found = shutil.which(program) if Path(program).stem in PROGRAM_NAMES else None
    if found:
        return [os.path.abspath(found)]  # noqa: PTH100
    return [sys.executable, "-P", "-m", "kbx_tui"]  # -P: not what lies where the agent is started
