"""Storage that speaks S3's protocol and can be made slow, or to refuse."""

import http.client
import http.server
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from moto.server import ThreadedMotoServer

_REFUSAL = b"<Error><Code>SlowDown</Code><Message>Reduce your request rate, zqxsaid77.</Message></Error>"


class FaultyStorage:
    """A server between a client and S3's protocol, which is at a host and port.

    Attributes:
        seconds: how long each answer is held back.
        refuses: whether each answer is "503 Slow Down".
        refusals: how many of the next answers are.
        asked: how many requests there were.
    """

    def __init__(self, host: str, port: int) -> None:
        self.seconds, self.refuses, self.asked, self.refusals = 0.0, False, 0, 0
        faulty = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _pass_on(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                faulty.asked += 1
                time.sleep(faulty.seconds)
                if faulty.refuses or faulty.refusals > 0:
                    faulty.refusals -= 1
                    self._answer(503, [("Content-Type", "application/xml")], _REFUSAL)
                    return
                behind = http.client.HTTPConnection(host, port, timeout=60)
                behind.request(self.command, self.path, body, dict(self.headers))
                answer = behind.getresponse()
                self._answer(answer.status, answer.getheaders(), answer.read())
                behind.close()

            def _answer(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
                self.send_response(status)
                is_head = self.command == "HEAD"
                for name, value in headers:
                    hop = name.lower() in ("transfer-encoding", "connection", "date", "server")
                    if not hop and (is_head or name.lower() != "content-length"):
                        self.send_header(name, value)
                if not is_head:
                    self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if not is_head:
                    self.wfile.write(body)

            def log_message(self, *arguments: object) -> None:
                pass

        for method in ("GET", "PUT", "POST", "HEAD", "DELETE"):
            setattr(Handler, f"do_{method}", Handler._pass_on)
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def credentials(self, key: str = "key", secret: str = "secret") -> dict[str, str]:
        """What a client's environment must hold."""
        return {
            "AWS_ENDPOINT_URL": self.address,
            "AWS_ACCESS_KEY_ID": key,
            "AWS_SECRET_ACCESS_KEY": secret,
            "AWS_DEFAULT_REGION": "us-east-1",
        }

    def close(self) -> None:
        self._server.shutdown()


@contextmanager
def faulty_storage() -> Iterator[FaultyStorage]:
    """Storage that works until it is told otherwise."""
    behind = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    behind.start()
    made = FaultyStorage(*behind.get_host_and_port())
    try:
        yield made
    finally:
        made.close()
        behind.stop()
