import csv
from dataclasses import replace

import pytest

from imboost_bench.trace.findings import check_claims
from imboost_bench.trace.report import write_traces
from synthetic_traces import synthetic_trace

VARIANTS = ("constant weights", "decaying weights")


def write(folder, first, second=None):
    """Write two traces; return their findings and the paths of the tables."""
    traces = dict(zip(VARIANTS, (first, second or first), strict=True))
    findings = {name: check_claims(trace) for name, trace in traces.items()}
    return findings, write_traces(traces, findings, folder)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    trace = synthetic_trace()
    rising = synthetic_trace(lambda update: {"inlier_risk": 10.0 + update.update})
    return trace, *write(tmp_path_factory.mktemp("trace"), trace, rising)


def test_the_table_has_a_line_for_every_update_of_every_variant(written):
    trace, _, (table, _) = written
    with table.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert [line["variant"] for line in lines[31:33]] == list(VARIANTS)
    assert len(lines) == 2 * len(trace.updates)
    lines = lines[:32]
    assert lines[8]["phase"] == "warm-up-trimmed"
    assert (lines[-1]["update"], lines[-1]["round"]) == ("32", "2")
    assert float(lines[-1]["inlier_risk"]) == trace.updates[-1].inlier_risk
    assert float(lines[-1]["cosine"]) == -0.5


def test_the_second_table_has_a_line_for_every_claim_of_every_variant(written):
    _, findings, (_, claims) = written
    with claims.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert [(line["variant"], line["claim"], line["details"]) for line in lines] == [
        (name, finding.claim, finding.details) for name in VARIANTS for finding in findings[name]
    ]
    outcomes = {
        line["variant"]: line["outcome"]
        for line in reversed(lines)
        if "The inlier risk falls in the polar" in line["claim"]
    }
    assert outcomes == dict(zip(VARIANTS, ("held", "did not hold"), strict=True))


def test_a_name_with_a_folder_stays_one_file_name(tmp_path):
    trace = synthetic_trace()
    named = replace(trace, spec=replace(trace.spec, dataset="CV_by_ResNet18/MVTec-AD_grid"))
    _, (table, _) = write(tmp_path, named)
    assert table.name == "trace_CV_by_ResNet18_MVTec-AD_grid.csv"
