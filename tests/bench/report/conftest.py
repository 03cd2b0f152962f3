import pytest

from report_making import LINES, report_on


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """The folder of a report on four methods, an ablation, a noisy oracle and failed runs."""
    return report_on(tmp_path_factory.mktemp("report"), LINES)


@pytest.fixture(scope="module")
def page(report):
    return (report / "report.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def markdown(report):
    return (report / "report.md").read_text(encoding="utf-8")
