"""The training on synthetic tables: continuing, logging, choosing, and no real data."""

import csv
import json
import math
import subprocess
import sys
from dataclasses import asdict, replace

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file

from imboost.errors import PersistenceError, SettingError
from imboost.labels import UNLABELLED
from imboost.models.in_context import SCORES, InContextNetwork
from imboost_bench.pretraining import (
    PretrainingSettings,
    Task,
    checkpoint,
    draw_tasks,
    pretrain,
    training,
)
from imboost_bench.pretraining.__main__ import main
from imboost_bench.pretraining.checkpoint import TrainingState
from imboost_bench.pretraining.random_source import RandomSource
from imboost_bench.pretraining.tasks import UPDATES_PER_DRAW

SETTINGS = PretrainingSettings(
    n_steps=6,
    n_tokens=4_000,
    width=8,
    n_layers=1,
    n_heads=2,
    row_width=16,
    n_row_layers=1,
    n_row_heads=2,
    max_context=32,
    max_columns=4,
    n_query=16,
)


@pytest.fixture(autouse=True)
def few_validation_tables(monkeypatch):
    monkeypatch.setattr(training, "N_VALIDATION", 2)


def test_an_interrupted_training_has_the_result_of_one_that_was_not(tmp_path):
    whole = pretrain(SETTINGS, tmp_path / "whole", validate_every=2)
    for _ in range(6):
        pieces = pretrain(SETTINGS, tmp_path / "pieces", validate_every=2, max_seconds=0)
    assert pieces.step == whole.step == 6
    for name, value in whole.network.state_dict().items():
        assert torch.equal(value, pieces.network.state_dict()[name]), name
        assert torch.equal(whole.average.state_dict()[name], pieces.average.state_dict()[name]), (
            name
        )
    assert whole.validations[-1].loss == pieces.validations[-1].loss


def test_a_finished_training_is_not_continued(tmp_path):
    pretrain(SETTINGS, tmp_path)
    before = (tmp_path / "checkpoint.pt").read_bytes()
    assert pretrain(SETTINGS, tmp_path).step == 6
    assert (tmp_path / "checkpoint.pt").read_bytes() == before


def test_the_log_has_a_line_per_validation(tmp_path):
    seen = []
    pretrain(SETTINGS, tmp_path, validate_every=2, report=seen.append)
    with (tmp_path / "log.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert [int(line["step"]) for line in lines] == [2, 4, 6]
    assert [float(line["loss"]) for line in lines] == [found.loss for found in seen]


def test_weights_are_the_average_with_the_lowest_validation_loss(tmp_path, monkeypatch):
    losses, averages = {2: 3.0, 4: 1.0, 6: 2.0}, {}

    def validate(network, tasks):
        step = 2 * len(averages) + 2
        averages[step] = network.cls_tokens.detach().half()
        return losses[step], 0.5, 0.5

    monkeypatch.setattr(training, "_validate", validate)
    pretrain(SETTINGS, tmp_path, validate_every=2)
    with safe_open(tmp_path / "weights.safetensors", framework="pt") as file:
        assert json.loads(file.metadata()["validation"])["step"] == 4
        weight = file.get_tensor("cls_tokens")
    assert weight.dtype == torch.float16
    assert torch.equal(weight, averages[4])
    assert not torch.equal(weight, averages[6])


def test_training_learns_the_outliers_of_a_few_tables(tmp_path, monkeypatch):
    settings = replace(SETTINGS, n_steps=150, learning_rate=1e-2, width=16, n_tokens=2_000)
    same = draw_tasks(settings, RandomSource((3,)))[0]
    monkeypatch.setattr(training, "draw_tasks", lambda *_: [same] * UPDATES_PER_DRAW)
    monkeypatch.setattr(checkpoint, "WARMUP_STEPS", 10)
    state = pretrain(settings, tmp_path, validate_every=25)
    is_target = same.is_target
    share = (same.is_outlier & is_target).sum(1, keepdim=True) / is_target.sum(1, keepdim=True)
    log_odds = share.clamp(1e-6).logit().expand_as(is_target)  # of each table, without its rows
    without_rows = training._weighted_cross_entropy(log_odds, same)
    assert state.validations[-1].training_loss < 0.5 * without_rows


def test_the_tables_of_an_update_do_not_depend_on_where_a_training_was_interrupted():
    device = torch.device("cpu")
    continued = training.training_tasks(SETTINGS, device, 0)
    for step, task in zip(range(2 * UPDATES_PER_DRAW), continued, strict=False):
        at_once = next(training.training_tasks(SETTINGS, device, step))
        for part, same in zip(task, at_once, strict=True):
            torch.testing.assert_close(part, same, equal_nan=True, rtol=0, atol=0)


def test_no_update_repeats_the_tables_of_another_or_of_the_validation(tmp_path, monkeypatch):
    seen = []
    predict = training._predict
    monkeypatch.setattr(
        training, "_predict", lambda network, task: seen.append(task) or predict(network, task)
    )
    pretrain(replace(SETTINGS, n_steps=2 * UPDATES_PER_DRAW), tmp_path)
    tables = [table.nan_to_num().numpy().tobytes() for task in seen for table in task.values]
    assert len(seen) == 2 * UPDATES_PER_DRAW + 2 * UPDATES_PER_DRAW  # updates and validation
    assert len(set(tables)) == len(tables)


def constant_loss(*shares, n_rows=200, log_odds=0.0):
    """Return the loss of a network that predicts the same log-odds for all rows."""
    n_outliers = torch.tensor([[round(share * n_rows)] for share in shares])
    is_outlier = torch.arange(n_rows) < n_outliers
    labels = torch.full((len(shares), 50), UNLABELLED)
    values, scores = (torch.zeros(len(shares), n_rows, n) for n in (3, len(SCORES)))
    task = Task(values, scores, labels, is_outlier)
    return float(training.task_loss(lambda *_: torch.full((len(shares), n_rows), log_odds), task))


@pytest.mark.parametrize("share", [0.01, 0.1, 0.5, 0.9])
def test_the_loss_of_a_table_is_divided_by_the_deviation_of_its_labels(share):
    # Log-odds of 0 have a cross-entropy of log 2 in every row.
    deviation = math.sqrt(share * (1 - share))
    assert constant_loss(share) == pytest.approx(math.log(2) * 0.5 / deviation, rel=1e-4)


def test_rare_outliers_count_more_per_unit_of_cross_entropy_than_frequent_ones():
    assert constant_loss(0.01) > 4 * constant_loss(0.5)
    mean = (constant_loss(0.01) + constant_loss(0.5)) / 2
    assert constant_loss(0.01, 0.5) == pytest.approx(mean, rel=1e-4)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_the_loss_of_a_table_with_a_single_class_is_finite(share):
    assert 0 < constant_loss(share) < 8 * math.log(2)


def test_answered_rows_are_not_part_of_the_loss():
    task = draw_tasks(SETTINGS, RandomSource((0,)))[0]
    log_odds = torch.randn(task.is_outlier.shape, generator=torch.Generator().manual_seed(0))
    changed = torch.where(task.is_target, log_odds, -99.0)
    losses = [training.task_loss(lambda *_, own=own: own, task) for own in (log_odds, changed)]
    assert (~task.is_target).any()
    assert losses[0] == losses[1]


def average_after(steps, n_steps):
    """Return the average of weights that are the number of the update, with 0 before the first."""
    state = TrainingState.start(replace(SETTINGS, n_steps=n_steps), torch.device("cpu"))
    for weights in (state.network.score_embedding, state.average.score_embedding):
        weights.data.fill_(0.0)
    for step in steps:
        state.network.score_embedding.data.fill_(float(step))
        state.step = step
        state.update_average()
    return float(state.average.score_embedding[0, 0])


def test_the_average_of_the_first_updates_is_the_mean_of_their_weights():
    assert average_after((1, 2, 3), n_steps=200) == pytest.approx(6 / 4)  # with the first weights


@pytest.mark.parametrize(("n_steps", "time_constant"), [(20, 1), (200, 10), (2000, 100)])
def test_the_average_lags_by_a_twentieth_of_the_updates(n_steps, time_constant):
    last = average_after(range(1, n_steps + 1), n_steps)
    assert n_steps - last == pytest.approx(time_constant - 1, abs=0.5)


def test_muon_updates_the_matrices_of_all_layers_and_adam_the_other_weights():
    state = TrainingState.start(SETTINGS, torch.device("cpu"))
    names = {id(weight): name for name, weight in state.network.named_parameters()}
    muon, adam = (
        {names[id(weight)] for group in optimiser.param_groups for weight in group["params"]}
        for optimiser in state.optimisers
    )
    assert muon | adam == set(names.values())
    assert not muon & adam
    for name, weight in state.network.named_parameters():
        is_of_layer = name.startswith(("layers.", "row_layers."))
        assert (name in muon) == (is_of_layer and weight.ndim == 2), name


def test_other_settings_are_refused(tmp_path):
    pretrain(SETTINGS, tmp_path, max_seconds=0)
    with pytest.raises(SettingError, match="started with width 8, got 16"):
        pretrain(replace(SETTINGS, width=16), tmp_path)


def test_a_damaged_checkpoint_is_refused(tmp_path):
    (tmp_path / "checkpoint.pt").write_bytes(b"damaged")
    with pytest.raises(PersistenceError, match="is not a checkpoint"):
        TrainingState.load(tmp_path / "checkpoint.pt", torch.device("cpu"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_steps": 0}, "n_steps must be above 0"),
        ({"width": 9}, "width must be a multiple of n_heads, got 9 and 2"),
        ({"n_row_heads": 3}, "row_width must be a multiple of n_row_heads, got 16 and 3"),
        ({"row_width": 20}, "row_width must be a multiple of width, got 20 and 8"),
        ({"max_context": 8}, "max_context must be at least 32"),
    ],
)
def test_impossible_settings_are_refused(change, message):
    with pytest.raises(SettingError, match=message):
        replace(SETTINGS, **change)


def test_an_update_with_a_gradient_that_is_not_finite_is_left_out(tmp_path, monkeypatch):
    monkeypatch.setattr(
        training,
        "task_loss",
        lambda network, task: sum(own.sum() for own in network.parameters()) * torch.nan,
    )
    state = pretrain(SETTINGS, tmp_path, max_seconds=0)
    start = TrainingState.start(SETTINGS, torch.device("cpu"))
    assert torch.equal(state.network.score_embedding, start.network.score_embedding)


OBSERVED_TRAINING = """
import sys
opened = []
sys.addaudithook(lambda event, args: opened.append(str(args[0])) if event == "open" else None)
from imboost_bench.pretraining.__main__ import main
sys.argv[1:] = [{folder!r}, *"--n-steps 2 --n-tokens 2000 --width 8 --n-layers 1 --n-heads 2 "
    "--row-width 16 --n-row-layers 1 --n-row-heads 2 "
    "--max-context 32 --max-columns 4 --n-query 16".split()]
main()
data = (".npz", ".npy", ".csv", ".gz", ".parquet", ".feather", ".arff", ".mat", ".data", ".db")
print("opened", [path for path in opened if path.endswith(data) and {folder!r} not in path])
rooms = ("imboost.datasets", "imboost_bench.run", "imboost_bench.datasets", "imboost_bench.cells")
print("loaded", [name for name in sys.modules if name.startswith(rooms)])
"""


def test_no_real_data_set_takes_part(tmp_path):
    folder = str(tmp_path / "pretraining")
    done = subprocess.run(
        [sys.executable, "-c", OBSERVED_TRAINING.format(folder=folder)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "2 updates" in done.stdout
    assert "opened []" in done.stdout
    assert "loaded []" in done.stdout


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--width", "-8", "width must be above 0, got -8."),
        ("--seed", "-1", "seed must be at least 0, got -1."),
        ("--learning-rate", "nan", "learning_rate must be above 0 and finite, got nan."),
        ("--minutes", "nan", "--minutes must be a number, got nan."),
        ("--validate-every", "0", "validate_every must be at least 1, got 0."),
        ("--device", "foo", "The device foo cannot be used here: "),
    ],
)
def test_the_command_ends_a_mistake_with_one_line(
    tmp_path, monkeypatch, capsys, option, value, message
):
    monkeypatch.setattr(sys, "argv", ["pretraining", str(tmp_path / "new"), option, value])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith(f"imboost: {message}")


def test_a_validation_that_is_not_finite_does_not_keep_later_weights_from_being_written(
    tmp_path, monkeypatch
):
    entropy = training._weighted_cross_entropy
    n_nan = 1 + training.N_VALIDATION * UPDATES_PER_DRAW  # an update and its validation
    calls = []

    def once_nan(log_odds, task):
        calls.append(log_odds)
        return entropy(log_odds, task) * (torch.nan if len(calls) <= n_nan else 1.0)

    monkeypatch.setattr(training, "_weighted_cross_entropy", once_nan)
    state = pretrain(SETTINGS, tmp_path, validate_every=1)
    assert math.isnan(state.validations[0].loss)
    assert all(math.isfinite(found.loss) for found in state.validations[1:])
    assert (tmp_path / "weights.safetensors").exists()


def test_a_training_starts_from_the_weights_of_an_earlier_one(tmp_path):
    pretrain(SETTINGS, tmp_path / "first")
    weights = tmp_path / "first" / "weights.safetensors"
    device = torch.device("cpu")
    state = TrainingState.start(SETTINGS, device, weights)
    for name, value in load_file(weights).items():
        assert torch.equal(state.network.state_dict()[name], value.float()), name
        assert torch.equal(state.average.state_dict()[name], value.float()), name
    longer = pretrain(SETTINGS, tmp_path / "second", initial_weights=weights)
    afresh = pretrain(SETTINGS, tmp_path / "third")
    assert longer.validations[0].loss != afresh.validations[0].loss


@pytest.mark.parametrize("change", [{"n_layers": 2}, {"n_heads": 4}, {"n_row_heads": 4}])
def test_weights_of_another_size_are_refused(tmp_path, change):
    pretrain(SETTINGS, tmp_path / "first", max_seconds=0)
    [(size, value)] = change.items()
    message = f"with {size} {getattr(SETTINGS, size)}, got {value}"
    with pytest.raises(PersistenceError, match=message):
        pretrain(
            replace(SETTINGS, **change),
            tmp_path / "second",
            initial_weights=tmp_path / "first" / "weights.safetensors",
        )


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("none.safetensors", "is not a file of weights"),
        ("", "is not a file of weights"),
        ("damaged.safetensors", "is not a file of weights"),
        ("first/checkpoint.pt", "is not a file of weights"),
    ],
)
def test_files_that_are_no_weights_end_with_one_line(tmp_path, capsys, monkeypatch, name, message):
    pretrain(SETTINGS, tmp_path / "first", max_seconds=0)
    (tmp_path / "damaged.safetensors").write_bytes(b"damaged")
    sizes = [f"--{key.replace('_', '-')}={value}" for key, value in asdict(SETTINGS).items()]
    arguments = [str(tmp_path / "second"), "--initial-weights", str(tmp_path / name), *sizes]
    monkeypatch.setattr(sys, "argv", ["pretraining", *arguments])
    with pytest.raises(SystemExit, match="2"):
        main()
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "second").exists()


def test_compiled_layers_have_the_same_weights_and_predictions(monkeypatch):
    network = InContextNetwork(16, 2, 2, row_width=48, n_row_layers=2, n_row_heads=4)
    generator = torch.Generator().manual_seed(1)
    values = torch.randn(2, 17, 4, generator=generator)
    scores = torch.randn(2, 17, len(SCORES), generator=generator)
    table = values, scores, torch.randint(-1, 2, (2, 12), generator=generator)
    expected, names = network(*table), list(network.state_dict())
    compiled = []

    def without_code_generation(function, **options):
        compiled.append(options)
        return function

    monkeypatch.setattr(torch, "compile", without_code_generation)
    training.compile_layers(network)
    assert len(compiled) == 2 * len(network.layers) + len(network.row_layers)
    assert all(options["dynamic"] for options in compiled)
    assert list(network.state_dict()) == names
    torch.testing.assert_close(network(*table), expected)
