"""Reports on chosen results, and their contents."""

import csv
import re

from imboost_bench.report import write_report
from imboost_bench.run.protocol import RoundResult
from imboost_bench.run.results import ResultFile
from result_lines import failed_line, run_lines

SETS = {"thyroid": 0.912, "wine": 0.987, "cardio": 0.9, "MVTec-AD_bottle": 0.7, "own": 0.5}
LIMIT = "over the time limit of 600 s"


def lines_of(method, shift=0.0, names=SETS, **others):
    """Return the runs of a method that lies `shift` above the figures of `SETS`."""
    return [
        line
        for name in names
        for seed, noise in ((100, 0.01), (200, -0.01))
        for line in run_lines(
            name,
            seed,
            0.4,
            SETS[name] + shift + noise,
            method=method,
            group=name.split("_")[0],
            **others,
        )
    ]


LINES = [
    *lines_of("imboost/mm"),
    *lines_of("imboost/rd", -0.1),
    *lines_of("oc-nce/ab", -0.2, seconds=3.0),
    *lines_of("trees/mix", 0.005, names=[name for name in SETS if name != "cardio"]),
    *(failed_line("cardio", seed, "skipped", LIMIT, method="trees/mix") for seed in (100, 200)),
    failed_line("pima", 100, "failed", "DataError: <b>bad</b> & broken"),
    *lines_of("imboost/mm", -0.3, settings="inlier_weight=0"),
    *lines_of("imboost/mm", -0.05, oracle_noise=0.1, version="0.9"),
]


def report_on(folder, lines):
    ResultFile(folder / "results.csv", RoundResult).append(lines)
    written = write_report(folder)
    assert written == [folder / "report.html", folder / "report.md", folder / "tables"]
    return folder


def csv_table(folder, name):
    """Return a table of the report by the first cell of its rows."""
    with (folder / "tables" / f"{name}.csv").open(encoding="utf-8") as file:
        return {next(iter(row.values())): row for row in csv.DictReader(file)}


def text_of(page):
    """Return the text of a page, without its figures and tables."""
    bare = re.sub(r"<(svg|style|table).*?</\1>", " ", page, flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]*>", " ", bare).split())
