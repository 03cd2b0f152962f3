import csv
from dataclasses import replace

import pytest
from markupsafe import escape

from imboost_bench.trace.claims import check_claims
from imboost_bench.trace.report import write_traces
from page_reading import outside_addresses, tags
from synthetic_traces import synthetic_trace

VARIANTS = ("constant weights", "decaying weights")


def write(folder, first, second=None):
    """Write two traces; return their findings and the paths of table and page."""
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
    assert float(lines[-1]["inlier_risk"]) == trace.updates["inlier_risk"].iloc[-1]
    assert float(lines[-1]["cosine"]) == -0.5


def test_the_page_holds_all_it_shows(written):
    _, findings, (table, page) = written
    html = page.read_text(encoding="utf-8")
    assert outside_addresses(html) == []
    assert "script" not in tags(html)
    assert tags(html).count("svg") == 2 * 8
    assert table.name in html
    for finding in (*findings[VARIANTS[0]], *findings[VARIANTS[1]]):
        assert escape(finding.claim) in html
        assert escape(finding.figures) in html


def test_variants_stand_side_by_side_with_k_beside_the_losses(written):
    _, _, (_, page) = written
    text = " ".join(page.read_text(encoding="utf-8").split())
    assert "<th>constant weights</th><th>decaying weights</th>" in text
    assert "negative IWAE bounds with K = 16 latent samples; training uses K = 2" in text
    assert text.count("loss (K = 16)") == 4  # as they are and scaled, of both variants
    [row] = [part for part in text.split("<tr>") if "The inlier risk falls in the polar" in part][
        :1
    ]
    assert "held" in row
    assert "did not hold" in row


def test_the_page_says_what_was_sampled(written, tmp_path):
    trace, _, (_, page) = written
    assert "over\nall training rows with" in page.read_text(encoding="utf-8")
    large = replace(trace, n_inliers=90_000)
    _, (_, sampled) = write(tmp_path, large)
    text = " ".join(sampled.read_text(encoding="utf-8").split())
    assert "a fixed random sample of 5,000 inliers and 100 outliers" in text


def test_a_failure_is_on_the_page(tmp_path):
    trace = synthetic_trace(lambda update: {"inner_product": 1.0})
    _, (_, page) = write(tmp_path, trace)
    assert '<span class="outcome not">did not hold</span>' in page.read_text(encoding="utf-8")


def test_a_name_with_a_folder_stays_one_file_name(tmp_path):
    trace = synthetic_trace()
    named = replace(trace, spec=replace(trace.spec, dataset="CV_by_ResNet18/MVTec-AD_grid"))
    _, (table, _) = write(tmp_path, named)
    assert table.name == "trace_CV_by_ResNet18_MVTec-AD_grid.csv"
