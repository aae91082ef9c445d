"""`logbarrier lab` and `lb.lab()`: where they listen, and how they end."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request

import pytest

pytest.importorskip("bokeh")

from bokeh.client import pull_session

import logbarrier as lb
from logbarrier.lab_page import page as page_module
from logbarrier.lab_page import server
from logbarrier.lab_page.worker import Worker


def test_the_command_serves_this_machine_until_ctrl_c():
    command = [sys.executable, "-m", "logbarrier", "lab", "--port", "0", "--no-browser", "--show", "arms=3&view=simplex"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        line = running.stdout.readline()
        url = line.split()[3]
        assert url.startswith("http://127.0.0.1:")
        assert url.endswith("?arms=3&view=simplex")
        page = urllib.request.urlopen(url).read().decode()
        assert "logbarrier lab</h1>" in page
        assert "https://" not in page.replace("https://www.w3.org", "")  # nothing is fetched from elsewhere
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "logbarrier: stopped; the page is closed" in said


def test_a_state_that_is_none_is_refused_before_anything_starts():
    with pytest.raises(ValueError, match="lab: arms must be between 2 and 100000, got 1"):
        lb.lab(query="arms=1")


def test_a_port_in_use_is_a_sentence():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(OSError, match=f"lab: port {taken.getsockname()[1]} cannot be used"):
            lb.lab(port=taken.getsockname()[1], warm=False)


def test_a_notebook_shows_the_page_itself_and_other_addresses_do_not_answer():
    page = lb.lab(warm=False)
    port = int(page.url.rstrip("/").rpartition(":")[2])
    try:
        assert f'<iframe src="{page.url}"' in page._repr_html_()
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.2", port), timeout=5)  # this machine too, but not where the page is
    finally:
        page.stop()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=5)


UPGRADE = (
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
)


def status(port, path, host, more=""):
    with socket.create_connection(("127.0.0.1", port), timeout=20) as client:
        client.sendall(f"GET {path} HTTP/1.1\r\nHost: {host}\r\n{more}\r\n".encode())
        return int(client.recv(4096).split()[1])


@pytest.fixture
def port():
    page = lb.lab(warm=False)
    yield int(page.url.rstrip("/").rpartition(":")[2])
    page.stop()


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "192.0.2.1", "[2001:db8::1]"])
def test_another_name_for_this_machine_is_refused(port, host):
    """DNS rebinding: a web site whose name was pointed at 127.0.0.1 is not the page's own site."""
    origin = f"Origin: http://{host}:{port}\r\n"
    assert status(port, "/", f"{host}:{port}") == 403
    assert status(port, "/static/js/bokeh.min.js", f"{host}:{port}") == 403
    assert status(port, "/ws", f"{host}:{port}", UPGRADE + origin) == 403
    assert status(port, "/ws", f"localhost:{port}", UPGRADE + origin) == 403


def test_the_names_of_this_machine_are_answered(port):
    for host in ("localhost", "LOCALHOST", "127.0.0.2", "[::1]"):
        tunnel = f"{host}:{port + 1}"  # another port is that of a tunnel
        assert status(port, "/", f"{host}:{port}") == 200
        assert status(port, "/static/js/bokeh.min.js", tunnel) == 200
        assert status(port, "/ws", tunnel, f"{UPGRADE}Origin: http://{tunnel.lower()}\r\n") == 101


class Hasty(Worker):
    """Delivers without pause, whatever it is asked for, until it is closed."""

    def ask(self, task):
        def endless(check):
            while True:
                time.sleep(0.001)
                yield ValueError("not yet")

        return super().ask(endless)

    def close(self, **named):
        super().close(wait=True)
        closed.set()


closed = threading.Event()


def test_a_tab_closed_in_the_middle_of_a_run_leaves_no_exception(monkeypatch):
    """The session is destroyed before its worker hears of it; pytest fails a test in which a thread raises."""
    monkeypatch.setattr(page_module, "Worker", Hasty)
    monkeypatch.setattr(server, "SESSION_CHECK", 10)
    monkeypatch.setattr(server, "SESSION_LIFETIME", 10)
    page = lb.lab(warm=False)
    pull_session(url=page.url).close()
    assert closed.wait(60)
    page.stop()


def test_lab_can_be_called_after_a_part_of_it_was_imported(run_python):
    code = "import logbarrier.lab_page.state, logbarrier as lb; page = lb.lab(warm=False); page.stop(); print('ended')"
    assert run_python(code) == "ended"
