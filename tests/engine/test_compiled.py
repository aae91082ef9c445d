"""Kernels are cached between processes, follow every edit, and nothing that happens to the folder can hurt."""

from __future__ import annotations

import os
import pty
import shutil
import signal
import subprocess
import sys

import numpy as np
import pytest
from numba.core import types
from numba.core.errors import NumbaError

from logbarrier.bandits.loops import functions
from logbarrier.engine import object_cache
from logbarrier.engine.codegen.arguments import packed
from logbarrier.engine.compiled import compiled, entry, from_python, kernel

COUNTED = """
import logbarrier as lb
from logbarrier.engine import object_cache
from logbarrier.engine.codegen import linking
made, original = [], linking.object_code
linking.object_code = lambda *arguments: made.append(1) or original(*arguments)
"""
ONE_KERNEL = """
from logbarrier.engine.compiled import compiled, from_python
@compiled
def harmonic(n):
    total = 0.0
    for i in range(n):
        total += 1.0 / (i + 1)
    return total
print(from_python(harmonic)(10).hex(), len(made))
"""
RESULT = sum(1.0 / (i + 1) for i in range(10)).hex()


@pytest.fixture
def compile_count(run_python, tmp_path):
    def run(folder=None):
        result, count = run_python(COUNTED + ONE_KERNEL, LOGBARRIER_CACHE_DIR=str(folder or tmp_path)).split()
        return int(count), result

    return run


def test_a_second_process_compiles_nothing(compile_count, tmp_path):
    assert compile_count() == (1, RESULT)
    assert compile_count() == (0, RESULT)
    for file in tmp_path.glob("*.kernel"):
        content = bytearray(file.read_bytes())
        content[len(content) // 2] ^= 1
        file.write_bytes(content[: len(content) - 10])
    assert compile_count() == (1, RESULT), "a damaged kernel must not be used"


def test_a_folder_that_cannot_be_written_only_costs_a_compilation(compile_count, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    assert compile_count(blocked / "below") == (1, RESULT)


NAMES_READ = """
names, read = set(), object_cache.read
object_cache.read = lambda name: names.add(name) or read(name)
{work}
print(len(made), *names)
"""
WARM_UP = "from logbarrier.cli import app; app(['warm-up', '--rule', 'baseline-sgb', '--quiet'], standalone_mode=False)"
LATER = """
rule = lb.BaselineSGB(learning_rate=0.1)
for n_arms in (2, 10, 200):
    for problem in (lb.GapInstances(n_arms), lb.BernoulliGapInstances(n_arms)):
        lb.simulate(rule, problem, horizon=5, runs=2)
agent = lb.Agent(rule, arms=["a", "b", "c"])
agent.tell(agent.ask(), reward=1.0)
"""


def test_after_warm_up_a_later_process_compiles_nothing(run_python):
    """It needs no other kernels than those that warm-up made sure of: so for an empty cache too, where that takes longer."""
    _, *ready = run_python(COUNTED + NAMES_READ.format(work=WARM_UP)).split()
    compiled_later, *needed = run_python(COUNTED + NAMES_READ.format(work=LATER)).split()
    assert compiled_later == "0"
    assert len(needed) > 3
    assert set(needed) <= set(ready)


def test_ctrl_c_does_not_wait_for_the_compiler(tmp_path):
    """What was being compiled when it came, for some seconds more, is not kept: the process ended before."""
    terminal, other_end = pty.openpty()
    words = ["simulate", "--rule", "sgb", "--learning-rate", "0.1", "--arms", "100", "--horizon", "5", "--runs", "1"]
    environment = {**os.environ, "LOGBARRIER_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-m", "logbarrier", *words]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=other_end, env=environment)
    shown = b""
    while b"compiling the lazy loop (once)" not in shown:
        shown = shown[-1000:] + os.read(terminal, 1000)
    before = list(tmp_path.glob("*.kernel"))
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 130
    assert list(tmp_path.glob("*.kernel")) == before
    assert b"logbarrier: stopped; nothing was saved" in os.read(terminal, 1000)
    os.close(terminal), os.close(other_end)


OWN_RULE = """
from dataclasses import dataclass
from logbarrier.bandits.algorithms.rule import TwoScalarRule
from logbarrier.engine.compiled import compiled
SCALE = {scale}
@compiled
def halved(x):
    return x / {divisor}
@compiled
def lift_and_drain(reward, probability, t, memory, hyper):
    step = SCALE * halved(hyper[0]) * reward
    return step, step
@dataclass(frozen=True, kw_only=True)
class UserDefined(TwoScalarRule):
    name, place, lift_and_drain, alpha = "user-defined", "here", staticmethod(lift_and_drain), 0.1
    def hyper(self, n_arms):
        return (self.alpha,)
    def to_dict(self):
        return {{"rule": "user-defined"}}
print(lb.simulate(UserDefined(), lb.GapInstances(n_arms=3), horizon=40, runs=1).digest(), len(made))
"""


def test_an_own_rule_is_kept_and_an_edit_of_anything_it_reads_compiles_it_alone(run_python, tmp_path):
    for file in object_cache.cache_folder().glob("*.kernel"):  # the loop, if it was compiled before; it takes seconds
        shutil.copy(file, tmp_path)

    def run(**values):
        code = COUNTED + OWN_RULE.format(**{"scale": 1.0, "divisor": 2.0, **values})
        digest, count = run_python(code, LOGBARRIER_CACHE_DIR=str(tmp_path)).split()
        return digest, int(count)

    digest, first = run()
    assert first >= 1
    assert run() == (digest, 0)
    scaled, after_constant = run(scale=3.0)
    divided, after_callee = run(divisor=5.0)
    assert (after_constant, after_callee) == (1, 1)
    assert len({digest, scaled, divided}) == 3


def test_hyper_parameters_of_another_type_are_not_read_by_the_code_for_the_first(monkeypatch, tmp_path):
    @compiled
    def lift_and_drain(reward, probability, t, memory, hyper):
        return hyper[0] * reward, 0.0

    monkeypatch.setenv("LOGBARRIER_CACHE_DIR", str(tmp_path))
    for hyper in ((3,), (3.0,)):
        functions._moves(lift_and_drain, (), packed("", hyper)[0])
    assert len(list(tmp_path.glob("*.kernel"))) == 2


def test_the_first_function_that_compiles_is_the_entry():
    def attempt(x):
        return x.no_such_thing

    def plain(x):
        return x + 1.0

    assert entry("a test", attempt, (types.float64,), otherwise=plain) > 0
    with pytest.raises(NumbaError):
        entry("a test", attempt, (types.float64,))


def test_a_kernel_takes_numbers_arrays_and_tuples_and_returns_numbers():
    @compiled
    def mixed(numbers, table, deep, yes):
        total = 0.0
        for i in range(table.shape[0]):
            for j in range(table.shape[1]):
                total += table[i, j]
        numbers[0] = 7
        return total, deep[1][0] + deep[0], not yes

    call, numbers = from_python(mixed), np.zeros(3, dtype=np.int32)
    table = np.arange(12.0).reshape(3, 4)
    assert call(numbers, table, (2, (0.5,)), True) == (66.0, 2.5, False)
    assert call(numbers, table[:, ::2], (2, (0.5,)), False) == (30.0, 2.5, True)
    assert numbers.tolist() == [7, 0, 0]
    with pytest.raises(ValueError, match="arguments must be numbers, arrays, or tuples of these, got 'word'"):
        call("word", table, (2, (0.5,)), True)


def test_an_exception_in_compiled_code_is_an_exception_in_python():
    def factory():
        def refuse(x):
            if x > 1.0:
                raise ValueError("too large")
            return x

        return refuse

    call = kernel(factory)
    assert call(0.5) == 0.5
    with pytest.raises(RuntimeError, match="refuse: compiled code raised an exception"):
        call(2.0)


AS_SOMEONE = """
import os, sys, warnings
from logbarrier.bandits.loops import functions
from logbarrier.engine import object_cache
os.setgroups([]), os.setgid({user}), os.setuid({user})
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    found = object_cache.read("planted")
print("used" if found else "refused", len(seen))
"""


def as_user(user, folder):
    code, environment = AS_SOMEONE.format(user=user), {**os.environ, "LOGBARRIER_CACHE_DIR": str(folder)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("reader", [0, 65534])
def test_a_file_or_folder_that_another_user_could_have_written_is_never_loaded(reader, tmp_path, monkeypatch):
    stranger = 12345
    folder = tmp_path / "kernels"
    for parent in (tmp_path, *tmp_path.parents):
        if parent.stat().st_mode & 0o055 != 0o055:
            os.chmod(parent, 0o755)  # so that another user may look inside
    monkeypatch.setenv("LOGBARRIER_CACHE_DIR", str(folder))
    object_cache.write("planted", {"needed": []}, b"code")
    file = folder / "planted.kernel"
    os.chmod(folder, 0o755), os.chmod(file, 0o644)

    def give(path, owner, mode):
        os.chown(path, owner, owner), os.chmod(path, mode)

    for folder_owner, folder_mode, file_owner, file_mode, verdict in (
        (reader, 0o755, reader, 0o644, ["used", "0"]),
        (0, 0o755, 0, 0o644, ["used", "0"]),
        (reader, 0o755, stranger, 0o644, ["refused", "1"]),
        (reader, 0o755, reader, 0o666, ["refused", "1"]),
        (reader, 0o1777, reader, 0o644, ["refused", "1"]),
        (reader, 0o775, reader, 0o644, ["refused", "1"]),
        (stranger, 0o755, reader, 0o644, ["refused", "1"]),
    ):
        give(file, file_owner, file_mode), give(folder, folder_owner, folder_mode)
        assert as_user(reader, folder) == verdict, (folder_owner, oct(folder_mode), file_owner, oct(file_mode))


def test_a_file_of_matching_bytes_or_the_name_of_another_kernel_is_not_used(tmp_path, monkeypatch):
    monkeypatch.setenv("LOGBARRIER_CACHE_DIR", str(tmp_path))
    os.chmod(tmp_path, 0o700)
    object_cache.write("one", {"needed": []}, b"code")
    assert object_cache.read("one") == ({"name": "one", "needed": []}, b"code")
    content = (tmp_path / "one.kernel").read_bytes()
    (tmp_path / "other.kernel").write_bytes(content)
    for name, written in (
        ("empty", b""),
        ("first", content[:32]),
        ("line", content[: len(object_cache.FIRST_LINE) + object_cache.CHECKSUM]),
    ):
        (tmp_path / f"{name}.kernel").write_bytes(written)
        assert object_cache.read(name) is None
    assert object_cache.read("other") is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become a user without a home")
def test_without_a_home_everything_runs_with_one_warning():
    code = """
import os, pwd, warnings
from logbarrier.bandits.loops import functions
from logbarrier.engine import object_cache
os.setgroups([]), os.setgid(54321), os.setuid(54321)
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    object_cache.write("x", {}, b""), object_cache.read("x")
print(len(seen), seen[0].message)
"""
    environment = {k: v for k, v in os.environ.items() if k not in ("HOME", "XDG_CACHE_HOME", "LOGBARRIER_CACHE_DIR")}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=100)
    assert done.stdout.startswith("1 logbarrier: there is no home folder"), done.stderr
