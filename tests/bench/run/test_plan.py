import pytest

from adbench_folder import write_planted
from imboost.errors import SettingError, UnknownNameError
from imboost_bench.baselines import make_detector, make_strategy
from imboost_bench.paper import METHODS, paper_figures
from imboost_bench.run.plan import Method, make_plan
from imboost_bench.run.query_protocol import count_questions, parse_budget
from imboost_bench.run.settings import join_settings, read_settings
from imboost_bench.run.suites import ABLATIONS, SUITES, find_ablations, find_suite


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = write_planted(tmp_path_factory.mktemp("adbench"), "ash", n_rows=60)
    write_planted(folder, "other", "birch", n_rows=120)
    (folder / "Classical" / "1_other.npz").unlink()
    return folder


def test_large_tables_may_have_seeds_of_their_own(data):
    plan = make_plan(
        data, methods=[Method.named("imboost")], seeds=(1, 2), large_seeds=(3,), large_rows=100
    )
    assert [(spec.dataset, spec.seed) for spec in plan.specs] == [
        ("birch", 3),
        ("ash", 1),
        ("ash", 2),
    ]


def test_every_method_is_run_on_every_set_and_seed_and_none_twice(data):
    methods = [Method.named("imboost"), Method.named("oc"), Method.named("imboost", "mm")]
    plan = make_plan(data, methods=iter(methods), seeds=(1,))
    assert [(spec.dataset, spec.detector, spec.query) for spec in plan.specs] == [
        ("birch", "imboost", "mm"),
        ("birch", "oc", "ab"),
        ("ash", "imboost", "mm"),
        ("ash", "oc", "ab"),
    ]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"oracle_noise": 1.5}, "oracle_noise must be .*at most 1"),
        ({"budget": "0.0"}, "budget must be above 0"),
        ({"time_limit": 0.0}, "time_limit must be above 0"),
        ({"methods": []}, "Nothing to run"),
        ({"seeds": []}, "Nothing to run"),
    ],
)
def test_a_wrong_number_is_refused(data, wrong, message):
    with pytest.raises(SettingError, match=message):
        make_plan(data, **{"methods": [Method.named("imboost")], **wrong})


def test_a_wrong_setting_of_a_method_is_refused_when_it_is_named():
    with pytest.raises(UnknownNameError, match=r"setting of imboost 'inlier_wieght'.*_weight'"):
        Method.named("imboost", None, "inlier_wieght=1")
    with pytest.raises(UnknownNameError, match="Unknown setting of rd 'alpha'"):
        Method.named("oc", "rd", "query__alpha=1")
    with pytest.raises(SettingError, match="inlier_weight must be at least 0"):
        Method.named("imboost", None, "inlier_weight=-1")


@pytest.mark.parametrize("name", ["random_state", "device"])
def test_what_a_run_sets_itself_is_no_setting_of_a_method(name):
    with pytest.raises(SettingError, match=f"The benchmark itself sets {name}"):
        Method.named("imboost", None, f"{name}=1")


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("paper", "paper"),
        ("0.002", "0.002"),
        ("1e-3", "0.001"),
        ("20rows", "20rows"),
        ("20 rows", "20rows"),
    ],
)
def test_a_budget_has_one_spelling(text, written):
    assert parse_budget(text) == written
    assert parse_budget(written) == written


@pytest.mark.parametrize("text", ["many", "0", "-0.1", "1.5", "0rows", "2.5rows", "nan", ""])
def test_what_is_no_budget_is_refused(text):
    with pytest.raises(SettingError, match="budget must be"):
        parse_budget(text)


@pytest.mark.parametrize(
    ("budget", "n_rows", "questions"),
    [
        ("paper", 2640, 26),
        ("paper", 300, 6),
        ("0.002", 2640, 5),
        ("0.002", 100, 1),
        ("20rows", 2640, 20),
        ("20rows", 15, 15),
    ],
)
def test_a_budget_counts_the_questions_of_a_round(budget, n_rows, questions):
    assert count_questions(budget, n_rows) == questions


def test_settings_are_compared_by_their_values_not_their_order():
    first = join_settings(["b=2", "a=0.5"])
    assert first == join_settings(["a=5e-1", "b = 2"])
    assert read_settings(first) == {"a": 0.5, "b": 2}
    assert read_settings("") == {}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a=1", 1),
        ("a=1e-3", 0.001),
        ("a=True", True),
        ("a=None", None),
        ("a=flow", "flow"),
        ("a=(5, 10)", (5, 10)),
    ],
)
def test_a_setting_has_the_type_it_is_written_in(text, value):
    assert read_settings(join_settings([text])) == {"a": value}


@pytest.mark.parametrize("text", ["a", "a=", "=1", ""])
def test_a_setting_without_name_or_value_is_refused(text):
    with pytest.raises(SettingError, match="name=value"):
        join_settings([text])


def test_the_papers_suite_is_its_nineteen_columns():
    assert len(METHODS) == 19
    assert [(m.detector, m.query) for m in find_suite("paper").make_methods()] == list(METHODS)
    columns = {column: paper_figures("test_auc", column) for column in METHODS.values()}
    assert all(len(figures) == 57 for figures in columns.values())


def test_every_suite_names_methods_that_exist():
    for suite in SUITES:
        for method in find_suite(suite).make_methods():
            make_detector(method.detector)
            make_strategy(method.query)
    assert {"aad", "trees"} == {method.detector for method in find_suite("peers").make_methods()}
    with pytest.raises(UnknownNameError, match="Did you mean 'peers'"):
        find_suite("pears")


def test_every_component_is_removed_once_and_the_others_stay():
    whole, *parts, questions = find_suite("stack-ablation").make_methods()
    assert whole.settings == ""
    assert (questions.detector, questions.query, questions.settings) == ("stack", "rd", "")
    assert len({part.settings for part in parts}) == len(parts)
    for part in parts:
        [(name, value)] = read_settings(part.settings).items()
        before = {**make_detector("stack").get_params(), **vars(make_strategy("spread"))}
        default = before[name.removeprefix("query__")]
        assert default != value
        if isinstance(value, tuple):
            assert set(value) < set(default)
            assert len(value) == len(default) - 1


def test_the_suite_of_the_network_leaves_out_the_network_alone():
    whole, without, alone = find_suite("pretrained").make_methods()
    assert whole.settings == ""
    [(name, learners)] = read_settings(without.settings).items()
    default = make_detector("stack").get_params()[name]
    assert set(default) - set(learners) == {"in_context"}
    assert alone.detector == "pretrained"


@pytest.mark.parametrize("name", sorted(ABLATIONS))
def test_an_ablation_changes_one_setting_and_keeps_its_default(name):
    [ablation] = find_ablations(name)
    settings = [read_settings(method.settings) for method in ablation.methods]
    assert settings.count({}) == 1  # the default is the method itself
    changed = [value for own in settings for value in own.items()]
    assert [value for _, value in changed] == [v for v in ablation.paper if v != ablation.default]
    assert {setting for setting, _ in changed} == {ablation.setting}
    detector, strategy = make_detector("imboost"), make_strategy("mm")
    own = ablation.setting.removeprefix("query__")
    actual = getattr(strategy if own != ablation.setting else detector, own)
    assert actual == ablation.default


def test_an_unknown_ablation_suggests_the_nearest():
    with pytest.raises(UnknownNameError, match="Did you mean 'lambda1'"):
        find_ablations("lamda1")


def test_all_ablations_can_be_named_at_once():
    assert find_ablations("all") == list(ABLATIONS.values())
