import csv
from dataclasses import replace

import pytest

from imboost.benchmark.trace.findings import check_claims
from imboost.benchmark.trace.report import write_trace
from page_reading import outside_addresses, tags
from synthetic_traces import synthetic_trace


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    trace = synthetic_trace()
    findings = check_claims(trace)
    return trace, findings, write_trace(trace, findings, tmp_path_factory.mktemp("trace"))


def test_the_table_has_a_line_for_every_update(written):
    trace, _, (table, _) = written
    with table.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == len(trace.updates)
    assert lines[8]["phase"] == "warm-up-trimmed"
    assert (lines[-1]["update"], lines[-1]["round"]) == ("32", "2")
    assert float(lines[-1]["inlier_risk"]) == trace.updates[-1].inlier_risk
    assert float(lines[-1]["cosine"]) == -0.5


def test_the_page_holds_all_it_shows(written):
    _, findings, (table, page) = written
    html = page.read_text(encoding="utf-8")
    assert outside_addresses(html) == []
    assert "script" not in tags(html)
    assert tags(html).count("svg") == 4
    assert table.name in html
    for finding in findings:
        assert finding.claim in html


def test_the_page_says_what_was_sampled(written, tmp_path):
    trace, findings, (_, page) = written
    assert "over\nall training rows with" in page.read_text(encoding="utf-8")
    large = replace(trace, n_inliers=90_000)
    _, sampled = write_trace(large, findings, tmp_path)
    text = " ".join(sampled.read_text(encoding="utf-8").split())
    assert "a fixed random sample of 5,000 inliers and 100 outliers" in text


def test_a_failure_is_on_the_page(tmp_path):
    trace = synthetic_trace(lambda update: {"inner_product": 1.0})
    _, page = write_trace(trace, check_claims(trace), tmp_path)
    assert '<td class="outcome not">did not hold</td>' in page.read_text(encoding="utf-8")


def test_a_name_with_a_folder_stays_one_file_name(tmp_path):
    trace = synthetic_trace()
    named = replace(trace, spec=replace(trace.spec, dataset="CV_by_ResNet18/MVTec-AD_grid"))
    table, _ = write_trace(named, check_claims(trace), tmp_path)
    assert table.name == "trace_CV_by_ResNet18_MVTec-AD_grid.csv"
