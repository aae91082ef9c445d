"""`logbarrier lab` and `lb.lab()`: where they listen, and how they end."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import urllib.request

import pytest

import logbarrier as lb


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


def test_lab_can_be_called_after_a_part_of_it_was_imported(run_python):
    code = "import logbarrier.lab.state, logbarrier as lb; page = lb.lab(warm=False); page.stop(); print('ended')"
    assert run_python(code) == "ended"
