"""A server with a certificate: what is sent is encrypted, and connections count before that."""

import asyncio
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import aiohttp
import pytest

from kbx_tui.web.links import listen
from tests.functional.web.running import SECONDS, SHORT, Page, Running, running, stranger


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate for 127.0.0.1, and its key."""
    x509 = pytest.importorskip("cryptography.x509")
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    pem, folder = serialization.Encoding.PEM, tmp_path_factory.mktemp("tls")
    files = folder / "cert.pem", folder / "key.pem"
    files[0].write_bytes(made.public_bytes(pem))
    files[1].write_bytes(
        key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return files


@pytest.fixture(scope="module")
def encrypted(
    certificate: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Running]:
    """A server with the certificate, below a path."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KBX_STATE_DIR", str(tmp_path_factory.mktemp("web")))
        patch.setenv("KBX_LOG_DIR", str(tmp_path_factory.mktemp("log")))
        listening = listen("127.0.0.1", 0, certificate=certificate, base_url="/kbx")
        with running(listening=listening) as server:
            yield server


@pytest.fixture
def trusting() -> ssl.SSLContext:
    """What a client takes any certificate with."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


async def enter(
    server: Running, client: aiohttp.ClientSession, trusting: ssl.SSLContext
) -> aiohttp.ClientResponse:
    """Use a link."""
    headers = {"Origin": server.origin}
    return await client.post(
        f"{server.url}enter", data=server.token(), headers=headers, ssl=trusting
    )


async def test_with_a_certificate_cookies_need_encryption(
    encrypted: Running, trusting: ssl.SSLContext
) -> None:
    assert encrypted.url.startswith("https://127.0.0.1:")
    async with stranger() as client:
        cookie = (await enter(encrypted, client, trusting)).headers["Set-Cookie"]
        assert cookie.startswith("__Secure-kbx-")
        assert "; Secure" in cookie
        assert "Path=/kbx/" in cookie


async def test_connections_that_never_encrypt_leave_room_for_the_others(
    encrypted: Running, trusting: ssl.SSLContext
) -> None:
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as client:
        await enter(encrypted, client, trusting)
        headers = {"Origin": encrypted.origin}
        url = f"{encrypted.url}socket"
        page = Page(await client.ws_connect(url, headers=headers, ssl=trusting))
        await page.send("open", {"width": 80, "height": 24})
        await page.until("welcome")
        silent = [
            await asyncio.open_connection("127.0.0.1", encrypted.server.listening.port)
            for _ in range(3 * SHORT.connections)
        ]
        async with stranger() as other:
            assert (await enter(encrypted, other, trusting)).status == 200
        ends = [
            asyncio.wait_for(reader.read(), SECONDS) for reader, _ in silent[: SHORT.connections]
        ]
        assert set(await asyncio.gather(*ends, return_exceptions=True)) <= {b""}
        await page.type("still here?")
        await page.until("typed:still here?")
        await page.type("leave!")
        await page.closed()
        for _, writer in silent:
            writer.close()


@pytest.mark.parametrize("sent", [b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", b"\x16\x03", b""])
async def test_who_does_not_agree_on_keys_is_dropped(encrypted: Running, sent: bytes) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", encrypted.server.listening.port)
    writer.write(sent)
    assert b"HTTP" not in await asyncio.wait_for(reader.read(), SECONDS)
    writer.close()


async def test_a_request_in_one_piece_with_the_handshake_is_answered(
    encrypted: Running, trusting: ssl.SSLContext
) -> None:
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = trusting.wrap_bio(incoming, outgoing)
    reader, writer = await asyncio.open_connection("127.0.0.1", encrypted.server.listening.port)
    while True:
        try:
            client.do_handshake()
            break
        except ssl.SSLWantReadError:
            writer.write(outgoing.read())
            incoming.write(await reader.read(65_536))
    client.write(b"GET /kbx/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    writer.write(outgoing.read())  # the last part of the handshake, and the request
    answer = b""
    while b"</html>" not in answer:
        incoming.write(await asyncio.wait_for(reader.read(65_536), SECONDS))
        try:
            while part := client.read(65_536):
                answer += part
        except ssl.SSLWantReadError:
            pass
    assert answer.startswith(b"HTTP/1.1 401")
    writer.close()
