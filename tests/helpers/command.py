"""The command line in a process of its own, without the second that a new interpreter takes to import the package.

The process is forked from one that has imported what commands import and has done nothing else. It has streams, an environment
and a folder of its own and can be killed. Tests of the start itself start an interpreter.
"""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

_processes = multiprocessing.get_context("forkserver")
_processes.set_forkserver_preload(
    [
        "pydantic.type_adapter",  # where Typer finds it
        "matplotlib.backends.backend_agg",
        "matplotlib.backends.backend_svg",
        "matplotlib.figure",
        "pandas",
        "pyarrow.parquet",
        "rich.table",
        "logbarrier.cli",
        "logbarrier.paper",
        "logbarrier.planning",
        "logbarrier.report",
        "logbarrier.studies",
        "logbarrier.verify",
        "logbarrier.bandits.simulator",
        "logbarrier.engine.codegen.linking",
    ]
)


class Command:
    """A command that was started; what it writes is kept until `communicate` returns it."""

    def __init__(self, *arguments, env=None, cwd=None):
        self.args = ["logbarrier", *map(str, arguments)]
        self._folder = Path(tempfile.mkdtemp(prefix="command-"))
        place = str(cwd or os.getcwd()), {**os.environ, **(env or {})}
        self._process = _processes.Process(target=_run, args=(self.args, str(self._folder), *place))
        self._process.start()
        self.pid = self._process.pid

    @property
    def returncode(self):
        return self._process.exitcode

    def poll(self):
        """The exit code, or None while it runs."""
        return self._process.exitcode

    def send_signal(self, number):
        os.kill(self.pid, number)

    def kill(self):
        self._process.kill()

    def communicate(self, timeout=120):
        """Wait for its end; returns what it wrote."""
        self._process.join(timeout)
        if self._process.exitcode is None:
            self._process.kill()
            raise subprocess.TimeoutExpired(self.args, timeout)
        written = tuple((self._folder / name).read_text() for name in ("stdout", "stderr"))
        shutil.rmtree(self._folder)
        return written


def logbarrier(*arguments, env=None, cwd=None, timeout=120):
    """Run a command to its end."""
    command = Command(*arguments, env=env, cwd=cwd)
    written = command.communicate(timeout)
    return subprocess.CompletedProcess(command.args, command.returncode, *written)


def logbarrier_from_nothing(*arguments, **options):
    """Run a command to its end in a new interpreter."""
    words = [sys.executable, "-m", "logbarrier", *map(str, arguments)]
    return subprocess.run(words, **{"capture_output": True, "text": True, "timeout": 120, **options})


def _run(words, streams, folder, environment):
    os.setsid()  # Ctrl-C in the terminal is for the tests
    for number, name in ((1, "stdout"), (2, "stderr")):
        os.dup2(os.open(f"{streams}/{name}", os.O_CREAT | os.O_WRONLY), number)
    sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.argv = words
    from logbarrier.cli import main

    main()
