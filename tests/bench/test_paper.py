import pytest

from imboost_bench.analysis.comparison import EMBEDDING_GROUPS, METRICS
from imboost_bench.paper import (
    METHODS,
    OTHER_DATA,
    OUTLIER_SHARES,
    PARTS,
    paper_datasets,
    paper_figures,
    paper_rounds,
)

ADBENCH_TABLES = """
    ALOI annthyroid backdoor breastw campaign cardio Cardiotocography celeba census cover
    donors fault fraud glass Hepatitis http InternetAds Ionosphere landsat letter
    Lymphography magic.gamma mammography mnist musk optdigits PageBlocks pendigits Pima
    satellite satimage-2 shuttle skin smtp SpamBase speech Stamps thyroid vertebral vowels
    Waveform WBC WDBC Wilt wine WPBC yeast
"""


@pytest.mark.parametrize("metric", METRICS)
def test_every_table_has_a_figure_for_each_of_adbenchs_57_sets(metric):
    figures = paper_figures(metric, "IMBoost")
    names = {name.lower() for name in (*ADBENCH_TABLES.split(), *EMBEDDING_GROUPS)}
    assert len(figures) == 57
    assert set(figures) == names
    assert all(0 < figure <= 1 for figure in figures.values())


@pytest.mark.parametrize(
    ("metric", "method", "mean"),
    [
        ("test_auc", "IMBoost", 0.847),
        ("test_auc", "XGBOD+RD", 0.798),
        ("test_auc", "OC-NCE+AB", 0.780),
    ],
)
def test_the_mean_over_the_sets_is_the_average_the_paper_prints(metric, method, mean):
    figures = paper_figures(metric, method)
    assert sum(figures.values()) / len(figures) == pytest.approx(mean, abs=0.001)


@pytest.mark.parametrize(
    ("metric", "name", "figure"),
    [
        ("test_auc", "thyroid", 0.970),
        ("test_auc", "yelp", 0.840),
        ("test_ap", "annthyroid", 0.427),
        ("train_auc", "aloi", 0.549),
        ("train_ap", "aloi", 0.042),
    ],
)
def test_figures_are_those_the_paper_prints(metric, name, figure):
    assert paper_figures(metric, "IMBoost")[name] == figure


def test_rounds_are_those_of_table_c7():
    assert paper_rounds("mm") == {1: 0.785, 2: 0.811, 3: 0.827, 4: 0.837, 5: 0.847}
    assert paper_rounds("cp")[5] == 0.797
    assert paper_rounds("rd")[5] == 0.839


def test_deviations_of_the_last_round_are_those_of_table_c6():
    last = {query: paper_rounds(query, "std")[5] for query in ("rd", "cp", "mm")}
    assert last == {"rd": 0.040, "cp": 0.035, "mm": 0.031}


def test_the_paper_gives_only_the_last_round_of_random_first_then_mm():
    assert paper_rounds("rd-mm") == {5: 0.840}
    assert paper_rounds("rd-mm", "std") == {}


def test_a_query_the_paper_did_not_try_has_no_rounds():
    assert paper_rounds("hc") == {}
    assert paper_rounds("hc", "std") == {}


def test_the_last_round_of_mm_is_the_average_of_the_main_table():
    figures = paper_figures("test_auc", METHODS["imboost", "mm"])
    assert paper_rounds("mm")[5] == pytest.approx(sum(figures.values()) / 57, abs=0.001)


def test_table_c1_describes_the_data_sets_of_the_other_tables():
    facts = paper_datasets()
    assert set(facts.index) == paper_figures("test_auc", "IMBoost").keys()
    shares = facts["outliers"] / facts["rows"]
    assert facts["share"].tolist() == pytest.approx(shares.tolist(), abs=2e-4)


def test_facts_about_data_sets_are_about_those_of_the_paper():
    names = {name.lower() for name in (*OTHER_DATA, *OUTLIER_SHARES, *PARTS)}
    assert names <= set(paper_datasets().index)
    for name, share in OUTLIER_SHARES.items():
        assert share < paper_datasets().loc[name.lower(), "share"]
