"""One code hash: it covers all that numbers depend on, and nothing else."""

from __future__ import annotations

import ast
import dis
import itertools
import sys
from copy import copy
from pathlib import Path
from types import CodeType

import every_rule
import numpy as np
import pytest

import logbarrier as lb
from logbarrier import mdps
from logbarrier.bandits.algorithms import auto_log_barrier
from logbarrier.bandits.loops import functions, lockstep
from logbarrier.engine import bytecode, random
from logbarrier.engine import code_hash as module
from logbarrier.engine import compiled as engine_compiled
from logbarrier.engine.code_hash import BY_NAME, GENERATORS, UnknownError, Walk, code_hash
from logbarrier.mdps import loop, optimum
from logbarrier.mdps.algorithms import annealing
from logbarrier.studies.study import case_of
from logbarrier.studies.tables import problem_of

SOURCE = Path(lb.__file__).parent


def test_what_cannot_be_known_is_never_guessed():
    settings = {"alpha": 0.1}

    def reads_a_dictionary(x):
        return x * settings["alpha"]

    def calls_a_plain_function(x):
        return pytest.approx(x)

    for function in (reads_a_dictionary, calls_a_plain_function):
        with pytest.raises(UnknownError):
            code_hash(function, strict=True)


def test_every_closed_over_value_and_default_counts():
    def made(number, array):
        def function(x, y=2.0):
            return x * number + array[0] + y

        return function

    names = {
        code_hash(made(*values)) for values in ((1.0, np.zeros(2)), (2.0, np.zeros(2)), (1.0, np.ones(2)), (1, np.zeros(2)))
    }
    assert len(names) == 4
    assert code_hash(made(1.0, np.zeros(2))) in names


def roots_of(case):
    return case.setting.code_roots(case.made_rule, problem_of(case.problem), "auto")


def module_of(code: CodeType) -> str:
    return ".".join(("logbarrier", *Path(code.co_filename).relative_to(SOURCE).with_suffix("").parts))


CASES = [case for study in every_rule.studies() for case in study.cases]
APART = (
    *BY_NAME,
    *GENERATORS,
    module.__name__,
    bytecode.__name__,
    "logbarrier.studies",
)  # counted otherwise, or not part of a simulation


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_walk_reaches_every_function_that_a_simulation_calls(case):
    (cell,) = lb.Study(name="traced", cases=[case], horizon=7, runs=1, checkpoints=2).cells()
    problem, ran, before = problem_of(case.problem), set(), code_hash(*roots_of(case))
    sys.setprofile(lambda frame, event, _: ran.add(frame.f_code) if event == "call" else None)
    try:
        case.setting.simulate(case.made_rule, problem, cell, threads=1, progress=None)
    finally:
        sys.setprofile(None)
    called = {f"{module_of(code)}.{code.co_name}": code for code in ran if code.co_filename.startswith(str(SOURCE))}
    assert "logbarrier.base.runs.checkpoint_steps" in called
    reached = Walk(roots_of(case)).codes
    missed = {name for name, code in called.items() if code not in reached and not name.startswith(APART)}
    of_the_choice = (
        "engines.suits",
        "engines.<dictcomp>",
        "engines.<genexpr>",
        "engines.make_ready",
        "schedules.to_plain",
    )  # or of a record's text
    assert {name for name in missed if not name.endswith(of_the_choice)} == set()
    assert code_hash(*roots_of(case)) == before  # nothing that a simulation leaves behind counts


@pytest.mark.parametrize("case", CASES[:: len(every_rule.BANDITS)], ids=str)
def test_the_walk_reaches_the_code_of_every_kernel_that_a_simulation_loads(case, monkeypatch):
    loaded, hashed = set(), engine_compiled.code_hash

    def noted(*things, **options):
        loaded.update(Walk(things, strict=True).codes)
        return hashed(*things, **options)

    monkeypatch.setattr(engine_compiled, "code_hash", noted)
    names = ("_moves", "_moves_of_runs", "_mixing", "_noise", "_reward", "_reward_of_runs", "_learn", "_weigh", "_draw")
    for cached in (*(getattr(functions, name) for name in names), engine_compiled.kernel, engine_compiled.from_python):
        cached.cache_clear()
    (cell,) = lb.Study(name="traced", cases=[case], horizon=7, runs=1, checkpoints=2).cells()
    case.setting.simulate(case.made_rule, problem_of(case.problem), cell, threads=1, progress=None)
    ours = {code for code in loaded if not module_of(code).startswith(APART)}
    assert len(ours) > 10
    assert ours <= Walk(roots_of(case)).codes


SHARED = {
    "auto-log-barrier": {"drops"},
    "optimistic-barrier": {"change_monitor", "reward_moments"},
    "lin-ucb": {"arm_means"},
    "theory-sgb": {"sgb"},
    "decaying-sgb": {"sgb"},
    "decaying-entropy-sgb": {"entropy_sgb"},
    "thompson-sampling": {"arm_means"},
    "beta-thompson-sampling": {"arm_means"},
    "sliding-window-ucb": {"arm_means"},
    "discounted-thompson-sampling": {"arm_means"},
    "spectral-pg": {"annealing"},
}


@pytest.mark.parametrize("case", CASES[:: len(every_rule.BANDITS)], ids=str)
def test_no_rule_reaches_the_file_of_a_rule_that_it_does_not_use(case):
    files = {Path(code.co_filename) for code in Walk(roots_of(case)).codes}
    lineage = {Path(sys.modules[kind.__module__].__file__).stem for kind in type(case.made_rule).__mro__[:-1]}
    reached = {file.stem for file in files if file.parent.name == "algorithms"} - lineage
    assert reached == SHARED.get(case.made_rule.name, set())


def test_a_changed_constant_of_a_rule_changes_its_hash_alone(monkeypatch):
    """AutoLogBarrier's numbers once changed under the same name of a cell."""
    cases = [case_of(lb.GapInstances(n_arms=3), rule) for rule in (lb.AutoLogBarrier(), lb.SGB(learning_rate=0.1))]
    before = [code_hash(*roots_of(case)) for case in cases]
    monkeypatch.setattr(auto_log_barrier, "GAIN", 1.4)
    after = [code_hash(*roots_of(case)) for case in cases]
    assert before[0] != after[0]
    assert before[1] == after[1]


@pytest.mark.parametrize(
    ("place", "name", "settings"),
    [
        (optimum, "BETTER", (mdps.PG(learning_rate=0.5), mdps.RiverSwim(5))),
        (loop, "BATCH", (mdps.PG(learning_rate=0.5), mdps.RiverSwim(5))),
        (annealing, "ENOUGH", (mdps.SpectralPG(), mdps.RiverSwim(5))),
        (lockstep, "BATCH", (lb.SGB(learning_rate=0.1), lb.GapInstances(n_arms=3))),
        (random, "_LOW", (lb.SGB(learning_rate=0.1), lb.GapInstances(n_arms=3))),
    ],
)
def test_a_constant_of_a_loop_a_measure_or_the_random_numbers_counts(place, name, settings, monkeypatch):
    rule, problem = settings
    roots = roots_of(case_of(problem, rule))
    before = code_hash(*roots)
    monkeypatch.setattr(place, name, 1.25 * getattr(place, name))
    assert code_hash(*roots) != before


def test_every_module_that_registers_code_with_numba_counts_as_a_whole():
    words = ("register_model", "lower_builtin", "infer_global", "@overload(", "JITCodeLibrary")
    registering = {path for path in SOURCE.rglob("*.py") if any(word in path.read_text() for word in words)} - {
        Path(module.__file__)
    }
    names = {".".join(("logbarrier", *path.relative_to(SOURCE).with_suffix("").parts)) for path in registering}
    assert names <= set(GENERATORS)


def test_names_are_read_from_bytecode_as_dis_reads_them():
    """The package decodes instructions itself, ten times as fast as `dis`."""

    def paths(code):
        steps, found = list(dis.get_instructions(code)), {}
        for place, step in enumerate(steps):
            if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
                rest = itertools.takewhile(lambda each: each.opname in ("LOAD_ATTR", "LOAD_METHOD"), steps[place + 1 :])
                found[(step.argval, *(each.argval for each in rest))] = None
        for constant in code.co_consts:
            found.update(dict.fromkeys(paths(constant)) if isinstance(constant, CodeType) else {})
        return tuple(found)

    for path in sorted((SOURCE / "engine").glob("*.py")):
        code = compile(path.read_text(), path.name, "exec")
        assert bytecode.global_paths(code) == paths(code), path.name
        docstrings = {
            node
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module)
        }
        texts = {ast.get_docstring(node, clean=False) for node in docstrings} - {None}
        assert not any(repr(text) in " ".join(bytecode.words_of_code(code)) for text in texts), path.name


def test_a_copy_of_an_object_changes_no_hash():
    """Python notes `__slotnames__` on the class of an object with slots when the first one is copied."""

    class Slotted:
        __slots__ = ("number",)

    before = code_hash(Slotted)
    thing = Slotted()
    thing.number = 1
    copy(thing)
    assert "__slotnames__" in vars(Slotted)
    assert code_hash(Slotted) == before
