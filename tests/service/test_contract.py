"""The service keeps to its own description: generated requests, right and wrong ones, over HTTP."""

from __future__ import annotations

import pytest

pytest.importorskip("schemathesis")

import requests
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import CHECKS
from schemathesis.generation import GenerationMode

from logbarrier.service.app import description
from logbarrier.service.operations import OF_EXPERIMENT

CASES = 10  # of each kind, for each operation
CHECKED = [
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
    "negative_data_rejection",
]
SCHEMA = schemathesis.openapi.from_dict(description())
ALL = {result.ok().label: result.ok() for result in SCHEMA.get_all_operations()}
TWINS = {
    f"{method} {OF_EXPERIMENT}{path}" for method, path in (label.split() for label in ALL)
}  # of a handler tested at its path
OPERATIONS = {label: operation for label, operation in ALL.items() if label not in TWINS}
TAKE_VALUES = [label for label in OPERATIONS if label.startswith(("POST", "PATCH")) or label == "GET /log"]
KINDS = [(label, GenerationMode.POSITIVE) for label in OPERATIONS] + [(label, GenerationMode.NEGATIVE) for label in TAKE_VALUES]


@pytest.mark.parametrize(("label", "mode"), KINDS, ids=lambda value: getattr(value, "value", value))
def test_generated_requests_are_answered_as_described(running, label, mode):
    checks = CHECKS.get_by_names(CHECKED)

    @settings(derandomize=True, max_examples=CASES, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(case=OPERATIONS[label].as_strategy(generation_mode=mode))
    def check(case):
        case.call_and_validate(running.address, session, {"Authorization": f"bearer {running.token}"}, checks)

    with requests.Session() as session:
        session.trust_env = False
        check()
