"""The catalogue: every system builds, on every instance, what its line of parameters says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import logbarrier as lb
from logbarrier import theory
from logbarrier.comparison import INSTANCES, SYSTEMS, Budget, study_of, systems_named
from logbarrier.comparison.systems import BAD_START, EASY, NEAR_TIE, WORSE_START, prescribed

PAGE = (Path(__file__).parents[2] / "docs" / "systems.md").read_text()


def rule(name, epsilon=0.1, instance=EASY):
    (system,) = systems_named([name])
    return system.rule(epsilon, instance, 300_000)


@pytest.mark.parametrize("instance", INSTANCES, ids=lambda instance: instance.name)
def test_every_system_is_a_rule_that_a_study_can_keep(instance):
    study = study_of(instance, Budget())
    wanted = {system.rule(epsilon, instance, 300_000) for system in SYSTEMS for epsilon in Budget().epsilons}
    assert len(study.cases) == sum(instance.faced_by(each) is instance for each in wanted)


def test_systems_and_rows_of_the_page_have_the_same_names():
    rows = re.findall(r"^\| `([\w-]+)`<br>", PAGE, re.MULTILINE)
    names = {system.name for system in SYSTEMS}
    assert sorted(rows) == sorted(names)
    assert prescribed(0.1, EASY, 1000).keys() <= names


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
def test_the_page_has_a_row_for_every_system(system):
    (row,) = [line for line in PAGE.splitlines() if line.startswith(f"| `{system.name}`<br>")]
    for text in (system.reference, system.update, system.parameters, system.reading):
        assert text in row


def test_instances_start_where_they_say():
    assert [instance.start[0] for instance in INSTANCES] == pytest.approx([1 / 3, 1e-3, 1e-5, 1 / 3])
    assert EASY.start_suboptimality == pytest.approx(0.5)
    assert WORSE_START.start_c_star == pytest.approx(1e10)
    assert (EASY.r_max, EASY.minimum_gap, NEAR_TIE.minimum_gap) == pytest.approx((1.0, 0.5, 0.1))


def test_rules_without_preferences_keep_their_own_start():
    assert BAD_START.faced_by(lb.UCB1()) is EASY
    assert BAD_START.faced_by(lb.SGB(learning_rate=0.1)) is BAD_START
    assert NEAR_TIE.faced_by(lb.UCB1()) is NEAR_TIE


def test_theory_steps_are_those_of_the_theorems():
    assert rule("theory-sgb").learning_rate(3) == pytest.approx(0.25 / (40 * 3**1.5))
    assert rule("theory-sgb", instance=NEAR_TIE).learning_rate(3) == pytest.approx(0.01 / (40 * 3**1.5))
    first = rule("log-barrier-sgb-theorem-1", 0.1)
    expected = theory.constants.printed_learning_rate(3, 0.5, 1.0, first.eta)
    assert first.learning_rate == pytest.approx(expected)
    assert rule("log-barrier-sgb-theorem-1", 0.01).eta == pytest.approx(100 * first.eta, rel=1e-3)


def test_the_worst_case_variant_keeps_the_orders_of_the_theorem():
    coarse, fine = rule("log-barrier-sgb-theorem-2", 0.1), rule("log-barrier-sgb-theorem-2", 0.01)
    assert coarse.learning_rate / fine.learning_rate == pytest.approx(100)
    assert (coarse.eta, fine.eta) == pytest.approx((60, 600))
    problem = theory.ProblemClass(3, 0.5, 1.0)
    stated = [theory.worst_case_complexity(problem, epsilon=epsilon) for epsilon in (0.1, 0.01)]
    assert stated[0].learning_rate / stated[1].learning_rate == pytest.approx(100, rel=0.1)
    assert stated[0].eta == coarse.eta
    assert stated[0].horizon > 1e9
