"""Downloads: from a real server on loopback, and not from where they must not come."""

from __future__ import annotations

import datetime as dt
import gzip
import socket
import ssl
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path

import pytest

from bookwheel.conversion import form_of, read_download
from bookwheel.download import ANYWHERE, Downloaded, Limits, Validators, check, download, is_allowed
from bookwheel.errors import BookwheelError, Forbidden, Invalid, NotFound, ParseFailed, TooLarge, Unavailable
from bookwheel.model import Source

Answer = Callable[[BaseHTTPRequestHandler], None]
HERE = Limits(private=("127.0.0.1/32", "::1/128"), seconds=30)
PAGE = b"""<!doctype html><html><head><title>R&amp;D</title></head><body><nav><a href=/>Home</a></nav>
<main><h1>The wheel &amp; the gear</h1><p>It turns when a &lt; b, for as long as anybody reads here.</p></main>
<footer>All rights reserved</footer></body></html>"""


@contextmanager
def serving(answer: Answer, context: ssl.SSLContext | None = None) -> Iterator[str]:
    """Run a server that answers every request that way; give its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer(self)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    if context:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http{'s' if context else ''}://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def reply(body: bytes = b"", status: int = 200, **headers: str) -> Answer:
    """Return an answer with that body and these headers."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in {"Content_Length": str(len(body)), **headers}.items():
            if value:
                handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def test_a_page_is_fetched_with_its_type_name_and_validators() -> None:
    headers = {
        "Content_Type": "Text/HTML; charset=UTF-8",
        "ETag": '"v1"',
        "Last_Modified": "Thu, 14 Mar 2024 08:30:00 GMT",
    }
    with serving(reply(PAGE, 200, **headers)) as site:
        got = download(f"{site}/wheel.html?a=1#top", HERE)

    assert got == Downloaded(
        f"{site}/wheel.html?a=1#top",
        PAGE,
        "text/html",
        "utf-8",
        "wheel.html",
        Validators('"v1"', "Thu, 14 Mar 2024 08:30:00 GMT"),
    )


def test_the_request_says_who_and_what() -> None:
    seen: dict[str, str] = {}

    def answer(handler: BaseHTTPRequestHandler) -> None:
        seen.update(handler.headers.items(), path=handler.path)
        reply(b"x")(handler)

    with serving(answer) as site:
        download(f"{site}/a%20b/ü?q=ä", HERE, Validators('"v1"', "yesterday"))
        host = site.removeprefix("http://")

    assert seen["path"] == "/a%20b/%C3%BC?q=%C3%A4"
    assert (seen["Host"], seen["If-None-Match"], seen["If-Modified-Since"]) == (host, '"v1"', "yesterday")
    assert "Cookie" not in seen
    assert "Authorization" not in seen


def test_a_page_that_did_not_change_is_not_sent_again() -> None:
    with serving(reply(status=304, ETag='"v1"')) as site:
        got = download(site, HERE, Validators('"v1"'))

    assert got == Downloaded(site, validators=Validators('"v1"'), not_modified=True)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_followed(status: int) -> None:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        here = int(handler.path[1:])
        (reply(b"there", Content_Type="text/plain") if here == 5 else reply(status=status, Location=f"/{here + 1}"))(
            handler
        )

    with serving(answer) as site:
        got = download(f"{site}/0", HERE)

    assert (got.url, got.data) == (f"{site}/5", b"there")


def test_the_sixth_redirect_is_not_followed() -> None:
    asked: list[str] = []

    def answer(handler: BaseHTTPRequestHandler) -> None:
        asked.append(handler.path)
        reply(status=302, Location="/again")(handler)

    with serving(answer) as site, pytest.raises(Unavailable, match="redirects more than 5 times"):
        download(site, HERE)

    assert len(asked) == 6


@pytest.mark.parametrize(
    "target",
    ["file:///etc/passwd", "ftp://127.0.0.1/x", "gopher://127.0.0.1/", "http://user:pass@127.0.0.1/", "//:80/x"],
)
def test_a_redirect_cannot_lead_to_another_scheme(target: str) -> None:
    with serving(reply(status=302, Location=target)) as site, pytest.raises(Invalid):
        download(site, HERE)


@pytest.mark.parametrize(
    "target", ["http://127.0.0.2/", "http://169.254.169.254/latest", "http://[::ffff:127.0.0.3]/", "http://10.0.0.1/"]
)
def test_a_redirect_cannot_lead_to_a_private_address(target: str) -> None:
    with (
        serving(reply(status=302, Location=target)) as site,
        pytest.raises(Forbidden, match="private or local address"),
    ):
        download(site, HERE)


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/", "http://localhost/", "http://LOCALHOST./", "http://127.1/", "http://2130706433/",
        "http://0x7f000001/", "http://0177.0.0.1/", "http://0.0.0.0/", "http://0/", "http://[::1]/", "http://[::]/",
        "http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/", "http://[64:ff9b::7f00:1]/", "http://[2002:7f00:1::]/",
        "http://[fe80::1]/", "http://[fc00::1]/", "http://10.1.2.3/", "http://172.16.0.1/", "http://192.168.1.1/",
        "http://169.254.169.254/latest/meta-data", "http://100.100.100.200/", "http://168.63.129.16/", "http://[fd00:ec2::254]/",
        "http://224.0.0.1/", "http://255.255.255.255/", "http://[ff02::1]/", "https://127.0.0.1/",
    ],
)  # fmt: skip
def test_private_addresses_are_refused_however_they_are_written(url: str) -> None:
    with pytest.raises(BookwheelError) as caught:
        download(url, Limits(seconds=5))

    assert isinstance(caught.value, Forbidden) or "has no address" in caught.value.message  # IPv6 may be switched off


@pytest.mark.parametrize(
    "address",
    ["::ffff:10.0.0.1", "64:ff9b::a00:1", "64:ff9b:1::a00:1", "2002:a00:1::", "2001:0:4136:e378:8000:63bf:f5ff:fffe",
     "::127.0.0.1", "fe80::1%eth0", "0.0.0.1", "198.18.0.1", "192.0.2.1", "240.0.0.1", "2001:db8::1", "100.64.0.1"],
)  # fmt: skip
def test_no_form_of_an_address_hides_a_private_one(address: str) -> None:
    assert not is_allowed(address, ())
    assert is_allowed(address, ANYWHERE)


@pytest.mark.parametrize(
    "address", ["93.184.216.34", "2606:2800:220:1:248:1893:25c8:1946", "64:ff9b::5db8:d822", "::ffff:8.8.8.8"]
)
def test_public_addresses_are_allowed(address: str) -> None:
    assert is_allowed(address, ())


def test_a_name_is_looked_up_once_and_the_checked_address_is_visited(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_up: list[str] = []

    def rebinding(host: str, port: int, **_: object) -> list[tuple[object, ...]]:
        looked_up.append(host)
        address = "127.0.0.1" if len(looked_up) == 1 else "169.254.169.254"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    with serving(reply(b"seen")) as site:
        port = site.rpartition(":")[2]
        monkeypatch.setattr(socket, "getaddrinfo", rebinding)
        got = download(f"http://rebinding.test:{port}/", HERE)

    assert got.data == b"seen"
    assert looked_up == ["rebinding.test"]


def test_a_name_server_that_does_not_answer_ends_at_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    over = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: over.wait())

    with pytest.raises(Unavailable, match=r"took longer than 0\.2 s"):
        download("http://slow.test/", Limits(seconds=0.2))
    over.set()


def test_of_several_addresses_only_the_allowed_are_visited(monkeypatch: pytest.MonkeyPatch) -> None:
    def several(_host: str, port: int, **_: object) -> list[tuple[object, ...]]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, port)) for one in ("10.255.255.1", "127.0.0.1")]

    with serving(reply(b"seen")) as site:
        port = site.rpartition(":")[2]
        monkeypatch.setattr(socket, "getaddrinfo", several)

        assert download(f"http://several.test:{port}/", HERE).data == b"seen"


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("file:///etc/passwd", "only http and https"), ("/etc/passwd", "only http and https"), ("", "only http"),
        ("javascript:alert(1)", "only http and https"), ("http://", "no host"), ("http:///x", "no host"),
        ("http://a b/", "spaces"), ("http://a\r\nX: y/", "control characters"), ("http://a\\@b/", "backslashes"),
        ("http://user@host/", "user name or password"), ("http://user:secret@host/", "user name or password"),
        ("http://:secret@host/", "user name or password"), ("http://host:99999/", "is not a URL"),
        ("http://host:0/", "no host"), ("http://[::1/", "is not a URL"),
    ],
)  # fmt: skip
def test_what_is_no_url_to_fetch_is_refused_with_the_reason(url: str, sentence: str) -> None:
    with pytest.raises(Invalid, match=sentence) as caught:
        check(url)

    assert "secret" not in caught.value.message


def test_a_body_over_the_limit_is_refused_before_it_is_read() -> None:
    with serving(reply(b"x" * 2_000)) as site, pytest.raises(TooLarge, match="more than 1,000 bytes"):
        download(site, Limits(size=1_000, private=ANYWHERE))


def test_a_body_without_end_is_cut_off() -> None:
    def endless(handler: BaseHTTPRequestHandler) -> None:
        reply(Content_Length="", Content_Type="text/plain")(handler)
        with suppress(OSError):  # until the client has had enough
            while True:
                handler.wfile.write(b"x" * 65_536)

    with serving(endless) as site, pytest.raises(TooLarge):
        download(site, Limits(size=500_000, private=ANYWHERE))


def test_a_packed_bomb_is_cut_off() -> None:
    bomb = gzip.compress(b"\0" * 50_000_000)
    with serving(reply(bomb, Content_Encoding="gzip")) as site, pytest.raises(TooLarge, match="1,000,000 bytes"):
        download(site, Limits(size=1_000_000, private=ANYWHERE))


@pytest.mark.parametrize(("packing", "pack"), [("gzip", gzip.compress), ("deflate", zlib.compress)])
def test_packed_bodies_are_unpacked(packing: str, pack: Callable[[bytes], bytes]) -> None:
    with serving(reply(pack(PAGE), Content_Encoding=packing)) as site:
        assert download(site, HERE).data == PAGE


@pytest.mark.parametrize(
    ("answer", "error", "sentence"),
    [
        (reply(gzip.compress(PAGE)[:-20], Content_Encoding="gzip"), Unavailable, "broke off"),
        (reply(b"no gzip at all", Content_Encoding="gzip"), Unavailable, "its packing is damaged"),
        (reply(b"x", Content_Encoding="br"), ParseFailed, "packed as br"),
        (reply(b"short", Content_Length="100"), Unavailable, "broke off"),
        (reply(b"5\r\nab", Content_Length="", Transfer_Encoding="chunked"), Unavailable, "broke off"),
        (reply(status=404), NotFound, "there is nothing at"),
        (reply(status=410), NotFound, "there is nothing at"),
        (reply(status=401), Forbidden, "is not for everyone"),
        (reply(status=403), Forbidden, "is not for everyone"),
        (reply(status=429), Unavailable, "status 429: try later"),
        (reply(status=500), Unavailable, "status 500"),
        (reply(status=206), Unavailable, "status 206"),
    ],
)
def test_what_a_server_does_wrong_is_said(answer: Answer, error: type[BookwheelError], sentence: str) -> None:
    def protocol(handler: BaseHTTPRequestHandler) -> None:
        handler.protocol_version = "HTTP/1.1"
        handler.close_connection = True
        answer(handler)

    with serving(protocol) as site, pytest.raises(error, match=sentence):
        download(site, HERE)


@pytest.mark.parametrize("where", ["head", "body"])
def test_a_slow_drip_ends_at_the_deadline(where: str) -> None:
    over = threading.Event()

    def drip(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n" + b"\r\n" * (where == "body"))
        with suppress(OSError):  # until the client has gone
            while True:
                handler.wfile.write(b"x: y\r\n")
                over.wait(0.02)

    with serving(drip) as site:
        with pytest.raises(Unavailable, match=r"(took longer than 0\.5 s: try later|got more than 100 headers)"):
            download(site, Limits(seconds=0.5, private=ANYWHERE))
        over.set()


def test_nobody_there_is_said() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, and not listening

        with pytest.raises(Unavailable, match="cannot be reached"):
            download(f"http://127.0.0.1:{taken.getsockname()[1]}/", HERE)


def test_something_that_speaks_no_http_is_said() -> None:
    def garbage(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(b"SSH-2.0-x\r\n")

    with serving(garbage) as site, pytest.raises(Unavailable, match="cannot be reached"):
        download(site, HERE)


# secure connections


@pytest.fixture(scope="module")
def secure(tmp_path_factory: pytest.TempPathFactory) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """The contexts of a server called wheel.test, and of a client that trusts it."""
    from cryptography import x509  # noqa: PLC0415 - comes with the protocol's library
    from cryptography.hazmat.primitives import hashes, serialization  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric import ec  # noqa: PLC0415

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "wheel.test")])
    now = dt.datetime.now(dt.UTC)
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(now - dt.timedelta(days=1)).not_valid_after(now + dt.timedelta(days=1))
    names = x509.SubjectAlternativeName([x509.DNSName("wheel.test")])
    certificate = builder.add_extension(names, critical=False).sign(key, hashes.SHA256())
    file: Path = tmp_path_factory.mktemp("keys") / "both.pem"
    encoding = serialization.Encoding.PEM
    private = key.private_bytes(encoding, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    file.write_bytes(private + certificate.public_bytes(encoding))
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(file)
    return server, ssl.create_default_context(cafile=str(file))


def test_a_secure_server_is_asked_by_its_name(
    secure: tuple[ssl.SSLContext, ssl.SSLContext], monkeypatch: pytest.MonkeyPatch
) -> None:
    server, client = secure
    named: list[str] = []
    server.sni_callback = lambda _socket, name, _context: named.append(name)
    monkeypatch.setattr(
        socket, "getaddrinfo", lambda _h, port, **_: [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]
    )
    with serving(reply(b"secret"), server) as site:
        port = site.rpartition(":")[2]
        got = download(f"https://wheel.test:{port}/", HERE, context=client)

        with pytest.raises(Unavailable, match=r"certificate|CERTIFICATE"):
            download(f"https://other.test:{port}/", HERE, context=client)
        with pytest.raises(Unavailable, match=r"certificate|CERTIFICATE"):
            download(f"https://wheel.test:{port}/", HERE)

    assert got.data == b"secret"
    assert named[0] == "wheel.test"


# from bytes to documents


def test_of_a_page_the_main_text_is_read() -> None:
    document = read_download(Source("l", "https://x.test/", "x.test"), Downloaded("https://x.test/", PAGE, "text/html"))

    assert document.text == ("# The wheel & the gear\n\nIt turns when a < b, for as long as anybody reads here.\n")
    assert document.word("title") == "R&D"


@pytest.mark.parametrize(
    ("content_type", "name", "data", "form"),
    [
        ("text/html", "report.pdf", b"", "page"), ("application/pdf", "report", b"", ".pdf"),
        ("text/plain", "README.md", b"", ".md"), ("text/plain", "a.pdf", b"", ".txt"), ("text/plain", "", b"", ".txt"),
        ("application/octet-stream", "a.docx", b"", ".docx"), ("application/octet-stream", "x", b"%PDF-1.4", ".pdf"),
        ("", "", b"<!doctype html><html>", "page"), ("", "", b"plain", ".txt"), ("", "a.html", b"", "page"),
        ("application/json", "api", b"", ".json"), ("image/png", "a", b"", ".png"), ("image/png", "a.png", b"", ".png"),
        ("application/xhtml+xml", "a", b"", "page"), ("text/x-python", "a.py", b"", ".txt"),
    ],
)  # fmt: skip
def test_the_content_type_decides_the_reader(content_type: str, name: str, data: bytes, form: str) -> None:
    assert form_of(Downloaded("https://x.test/", data, content_type, name=name)) == form


def test_the_servers_encoding_goes_before_the_pages() -> None:
    page = "<meta charset=utf-8><p>Grüße aus der Straße".encode("cp1252")
    got = Downloaded("https://x.test/", page, "text/html", "iso-8859-1")

    assert read_download(Source("l", "https://x.test/", ""), got).text == "Grüße aus der Straße\n"


def test_what_cannot_be_read_says_so() -> None:
    with pytest.raises(BookwheelError, match="a picture has no text"):
        read_download(Source("l", "https://x.test/a", "a"), Downloaded("https://x.test/a", b"x", "image/png"))


def test_addresses_of_the_table_are_real_ones() -> None:
    assert ip_address("168.63.129.16").is_global  # why it must be named
