"""What other pages, other people and broken programs may try, each through a real client."""

import asyncio
import json
import logging

import aiohttp
import pytest
from yarl import URL

from kbx_tui.user_files import logger
from kbx_tui.web.browser_session import Closing
from tests.functional.web.running import SECONDS, SHORT, Page, Running, leave, stranger, visitor
from tests.waiting import until

ROUTES = ("", "static/app.js", "socket", "nothing/here")


async def send_raw(served: Running, text: str) -> str:
    """Send bytes as they are; return all that the server answers before it hangs up."""
    reader, writer = await asyncio.open_connection("127.0.0.1", served.server.listening.port)
    writer.write(text.encode("latin-1"))
    answer = await asyncio.wait_for(reader.read(), SECONDS)
    writer.close()
    return answer.decode("latin-1")


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "https://127.0.0.1", "http://localhost:1", "file://"]
)
async def test_a_foreign_origin_is_refused_even_with_the_cookie(
    served: Running, origin: str
) -> None:
    async with visitor(served) as known:
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await known.connect(Origin=origin)
        assert refused.value.status == 403
        for route in ROUTES:
            answer = await known.client.get(served.url + route, headers={"Origin": origin})
            assert answer.status == 403, route


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
async def test_what_the_browser_says_is_of_another_site_is_refused(
    served: Running, site: str
) -> None:
    async with visitor(served) as known:
        headers = {"Sec-Fetch-Site": site}
        answer = await known.client.get(f"{served.url}static/app.js", headers=headers)
        assert answer.status == 403
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await known.connect(**headers)
        answer = await known.client.get(served.url, headers=headers)
        assert answer.status == 200  # a link on another page may lead here


@pytest.mark.parametrize("token", ["", "x", "0" * 43, "é", "a\x00b", "t" * 100_000])
async def test_without_a_valid_token_nobody_comes_in(served: Running, token: str) -> None:
    async with stranger() as client:
        headers = {"Origin": served.origin}
        answer = await client.post(f"{served.url}enter", data=token.encode(), headers=headers)
        assert answer.status in (401, 413)
        assert "Set-Cookie" not in answer.headers
        page = await client.get(f"{served.url}?token={token[:50]}")
        assert page.status == 401
        assert "app.js" not in await page.text()


async def test_a_token_may_come_in_two_pieces(served: Running) -> None:
    token, address = served.token(), served.origin.partition("//")[2]
    reader, writer = await asyncio.open_connection(*address.split(":"))
    head = f"POST /enter HTTP/1.1\r\nHost: {address}\r\nOrigin: {served.origin}\r\n"
    writer.write(f"{head}Content-Length: {len(token)}\r\n\r\n{token[:9]}".encode())
    await writer.drain()
    writer.write(token[9:].encode())
    assert (await reader.read()).startswith(b"HTTP/1.1 200")
    writer.close()


async def test_a_token_is_valid_once(served: Running) -> None:
    token, headers = served.token(), {"Origin": served.origin}
    async with stranger() as client, stranger() as other:
        answers = await asyncio.gather(
            *(each.post(f"{served.url}enter", data=token, headers=headers)
              for each in (client, other))
        )  # fmt: skip
        assert sorted(answer.status for answer in answers) == [200, 401]


@pytest.mark.parametrize("route", [*ROUTES, "enter"])
@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1.evil.example", "evil@127.0.0.1", ""]
)
async def test_a_name_that_was_rebound_to_this_machine_is_refused(
    served: Running, route: str, host: str
) -> None:
    name = host.format(port=served.server.listening.port)
    method = "POST" if route == "enter" else "GET"
    request = f"{method} /{route} HTTP/1.1\r\nHost: {name}\r\nOrigin: http://{name}\r\n"
    answer = await send_raw(served, f"{request}Content-Length: 0\r\n\r\n")
    assert answer.startswith(("HTTP/1.1 403", "HTTP/1.0 403")), answer


@pytest.mark.parametrize("origin", ["http://evil.example", "null", None])
async def test_a_form_of_another_site_changes_nothing(served: Running, origin: str | None) -> None:
    token = served.token()
    headers = {"Content-Type": "text/plain"} | ({"Origin": origin} if origin else {})
    async with stranger() as client:
        answer = await client.post(f"{served.url}enter", data=token, headers=headers)
        assert answer.status == 403
        assert "Set-Cookie" not in answer.headers
        own = {"Origin": served.origin}
        assert (await client.post(f"{served.url}enter", data=token, headers=own)).status == 200
        assert (await client.post(served.url, data=token, headers=own)).status == 405


@pytest.mark.parametrize("cookie", ["", "guess", "0" * 43, '"; x="'])
async def test_a_socket_without_the_cookie_is_refused(served: Running, cookie: str) -> None:
    async with visitor(served) as known:
        (name,) = (morsel.key for morsel in known.client.cookie_jar)
    headers = {"Origin": served.origin, "Cookie": f"{name}={cookie}"}
    async with stranger() as client:
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await client.ws_connect(f"{served.url}socket", headers=headers)
        assert refused.value.status == 401


@pytest.mark.parametrize(
    "path",
    [
        "static/../serving.py", "static/..%2fserving.py", "static/%2e%2e/serving.py",
        "static/..%5cserving.py", "static/vendor/../app.html", "static//etc/passwd", "static/",
        "static", "static/app.html", "static/%00", "static/vendor", "static/ORIGIN.md",
        "../../etc/passwd", "%2e%2e/%2e%2e/etc/passwd",
    ],
)  # fmt: skip
async def test_no_path_leads_out_of_the_files_of_the_page(served: Running, path: str) -> None:
    async with visitor(served) as known:
        answer = await known.client.get(URL(served.url + path, encoded=True))
        assert answer.status == 404
        assert (await answer.text()) == "not found\n"
    raw = await send_raw(served, f"GET /{path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    assert " 404 " in raw.partition("\r\n")[0] or " 400 " in raw.partition("\r\n")[0]


async def test_a_flood_of_sockets_leaves_room_for_the_sessions_that_are_open(
    served: Running,
) -> None:
    async with visitor(served) as known, visitor(served) as greedy:
        page = await known.open()
        sockets = [
            await asyncio.open_connection("127.0.0.1", served.server.listening.port)
            for _ in range(3 * SHORT.connection.at_once)
        ]
        await page.type("still here?")
        await page.until("typed:still here?")
        assert (await known.client.get(served.url)).status == 200  # the idle ones give way
        for _, writer in sockets:
            writer.close()
            await writer.wait_closed()
        pages = [await greedy.open() for _ in range(SHORT.sessions - 1)]
        refused = Page(await greedy.connect())
        await refused.send("open", {"width": 80, "height": 24})
        assert await refused.closed() == Closing.REFUSED
        await page.type("and now?")
        await page.until("typed:and now?")
        await leave(page, *pages)


@pytest.mark.parametrize("library", ["aiohttp", "asyncio"])
def test_failures_of_connections_are_not_printed_on_the_terminal(
    served: Running, library: str
) -> None:
    assert logging.getLogger(library).parent is logger()


async def test_a_page_that_is_gone_before_its_session_starts_takes_no_place(
    served: Running,
) -> None:
    registry = served.server.registry
    async with visitor(served) as known:
        socket = await known.connect()
        await socket.send_str('["open", {"width": 80, "height": 24}]')
        assert socket._response.connection is not None
        assert socket._response.connection.transport is not None
        socket._response.connection.transport.abort()
        await until(lambda: len(registry))
        await until(lambda: not len(registry))


async def test_an_oversized_frame_closes_the_socket(served: Running) -> None:
    async with visitor(served) as known:
        page = await known.open()
        await page.type("x" * SHORT.frame_bytes)
        assert await page.closed() == aiohttp.WSCloseCode.MESSAGE_TOO_BIG
        again = await known.open(page.session)
        assert again.resumed
        assert "typed:x" not in page.output.decode()
        await leave(again)


@pytest.mark.parametrize(
    "message",
    [
        "", "{", "[]", "[1, 2]", '{"type": "quit"}', '["quit"]', '["resize", {"width": -1}]',
        '["resize", {"width": 1e9, "height": true}]', '["exec", "rm"]', '["stdin", {"a": 1}]',
        "[" * 50_000, '["deliver_chunk_request", {"key": "a", "size": 1}]',
    ],
)  # fmt: skip
async def test_a_message_that_no_page_sends_closes_the_socket(
    served: Running, message: str
) -> None:
    async with visitor(served) as known:
        page = await known.open()
        await page.socket.send_str(message)
        assert await page.closed() == Closing.BAD_MESSAGE
        again = await known.open(page.session)
        await again.until("kbx_redraw")
        assert "message:" not in page.output.decode()
        await leave(again)


async def test_a_socket_that_opens_no_session_is_closed(served: Running) -> None:
    async with visitor(served) as known:
        page = Page(await known.connect())
        assert await page.closed() == Closing.BAD_MESSAGE
        page = Page(await known.connect())
        await page.socket.send_bytes(b"open")
        assert await page.closed() == Closing.BAD_MESSAGE


async def test_a_request_that_comes_too_slowly_is_cut(served: Running) -> None:
    assert await send_raw(served, "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ") == ""


async def test_a_frame_that_comes_byte_by_byte_is_cut(served: Running) -> None:
    async with visitor(served) as known:
        (cookie,) = known.client.cookie_jar
    reader, writer = await asyncio.open_connection("127.0.0.1", served.server.listening.port)
    writer.write(
        f"GET /socket HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: http://127.0.0.1\r\n"
        f"Cookie: {cookie.key}={cookie.value}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n".encode()
    )
    opening = b'["open", {"width": 80, "height": 24}]'
    writer.write(b"\x81" + bytes([0x80 | len(opening)]) + bytes(4) + opening)
    writer.write(b"\x81\xfe\x40\x00" + bytes(4))  # says that 16 KB follow
    deadline = asyncio.get_running_loop().time() + SECONDS
    while not reader.at_eof():
        assert asyncio.get_running_loop().time() < deadline
        writer.write(b"x")
        try:
            await asyncio.wait_for(reader.read(65_536), 0.1)
        except TimeoutError:
            continue
        except ConnectionError:  # a byte was on its way when the server closed the connection
            break
    writer.close()


@pytest.mark.parametrize(
    "line",
    [
        "GET /?q=%0d%0aSet-Cookie:%20a=b HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        "GET /%0d%0aX-Injected:%20yes HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: 127.0.0.1\rX-Injected: yes\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Forwarded-Host: evil.example\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: kbx=a\r\n X-Injected: yes\r\n\r\n",
        "POST /enter HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1\r\n"
        "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET / HTTP/1.1\r\n\r\n",
    ],
    ids=["query", "path", "hosts", "return", "forwarded", "folded", "smuggled"],
)
async def test_nothing_of_a_request_becomes_a_header_of_the_answer(
    served: Running, line: str
) -> None:
    answer = await send_raw(served, line)
    head, _, _ = answer.partition("\r\n\r\n")
    assert answer.count("HTTP/1.") == 1
    for text in ("Set-Cookie", "X-Injected", "evil.example", "a=b", "Traceback"):
        assert text not in head
    assert head.split()[1] in ("400", "401", "403", "404")


async def test_a_session_belongs_to_the_visitor_who_opened_it(served: Running) -> None:
    async with visitor(served) as known, visitor(served) as thief:
        page = await known.open()
        stolen = await thief.open(page.session)
        assert not stolen.resumed
        assert stolen.session != page.session
        guesses = [page.session[:-1] + "A", "", "0" * 43, page.session.lower(), "../", "x" * 9_000]
        async with page.staying():
            for guess in guesses:
                await leave(stolen)
                stolen = await thief.open(guess)
                assert not stolen.resumed
        await page.type("mine")
        assert "typed:mine" in await page.until("typed:mine")
        await leave(page, stolen)


async def test_cookies_are_hidden_from_scripts_and_from_other_sites(served: Running) -> None:
    async with stranger() as client:
        headers = {"Origin": served.origin}
        answer = await client.post(f"{served.url}enter", data=served.token(), headers=headers)
        cookie = answer.headers["Set-Cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=Strict" in cookie
        assert "Path=/;" in cookie
        assert "Domain" not in cookie


async def test_every_answer_forbids_frames_and_foreign_content(served: Running) -> None:
    async with visitor(served) as known:
        for route in ("", "static/app.js", "nothing"):
            answer = await known.client.get(served.url + route)
            policy = answer.headers["Content-Security-Policy"]
            assert "frame-ancestors 'none'" in policy
            assert policy.startswith(("default-src 'self'", "default-src 'none'"))
            assert "script-src" not in policy
            assert answer.headers["X-Content-Type-Options"] == "nosniff"
            assert answer.headers["Referrer-Policy"] == "no-referrer"
            assert "Access-Control-Allow-Origin" not in answer.headers


async def test_a_process_gets_none_of_the_secrets_of_the_server(
    served: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("GEMINI_API_KEY", "KBX_TOKEN", "AWS_SECRET_ACCESS_KEY", "SSH_AUTH_SOCK"):
        monkeypatch.setenv(name, "secret")
    async with visitor(served) as known:
        page = await known.open(width=100, height=40)
        await page.type("environment?")
        environment = json.loads((await page.until("}")).partition("welcome")[2])
        assert "secret" not in environment.values()
        assert environment["COLUMNS"] == "100"
        assert environment["ROWS"] == "40"
        await leave(page)


async def test_a_crash_ends_one_session_alone(served: Running) -> None:
    async with visitor(served) as known, visitor(served) as other:
        page, crashing = await known.open(), await other.open()
        await crashing.type("crash!")
        assert await crashing.closed() == Closing.ENDED
        await page.type("alive?")
        await page.until("typed:alive?")
        fresh = await other.open(crashing.session)
        assert not fresh.resumed
        await leave(page, fresh)
