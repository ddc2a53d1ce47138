"""Hosts on this machine: network namespaces with addresses of their own, joined by a bridge."""

import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

_BRIDGE, _NETWORK = "marginalia0", "10.177.0"
#: This machine, as the hosts see it.
HOME = f"{_NETWORK}.1"


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


@contextmanager
def hosts(number: int) -> Iterator[list[tuple[str, str]]]:
    """So many hosts: the name of each one's namespace, and its address."""
    if shutil.which("ip") is None:
        pytest.skip("needs iproute2 (Debian: iproute2)")
    with ExitStack() as stack:
        _ip("link", "add", _BRIDGE, "type", "bridge")
        stack.callback(_ip, "link", "del", _BRIDGE)
        _ip("addr", "add", f"{HOME}/24", "dev", _BRIDGE)
        _ip("link", "set", _BRIDGE, "up")
        made = []
        for place in range(number):
            name, address, end = f"marginalia{place}", f"{_NETWORK}.{10 + place}", f"marginalia-v{place}"
            _ip("netns", "add", name)
            stack.callback(_ip, "netns", "del", name)
            _ip("link", "add", end, "type", "veth", "peer", "name", "eth0", "netns", name)
            _ip("link", "set", end, "master", _BRIDGE, "up")
            for words in (f"addr add {address}/24 dev eth0", "link set eth0 up", "link set lo up"):
                _ip("-n", name, *words.split())
            made.append((name, address))
        yield made


@contextmanager
def reached_from_hosts(port: int) -> Iterator[int]:
    """The port at which hosts reach a server that listens on loopback alone."""
    listening = socket.create_server((HOME, 0))

    def serve() -> None:
        while True:
            try:
                theirs, _ = listening.accept()
            except OSError:
                return
            ours = socket.create_connection(("127.0.0.1", port))
            for one, other in ((theirs, ours), (ours, theirs)):
                threading.Thread(target=_carry, args=(one, other), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield int(listening.getsockname()[1])
    finally:
        listening.close()


def _carry(one: socket.socket, other: socket.socket) -> None:
    try:
        while data := one.recv(1 << 16):
            other.sendall(data)
    except OSError:
        pass
    finally:
        other.close()
