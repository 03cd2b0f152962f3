"""The training on synthetic tables: continuing, logging, choosing, and no real data."""

import csv
import json
import math
import subprocess
import sys
from dataclasses import replace

import pytest
import torch
from safetensors import safe_open

from imboost.errors import PersistenceError, SettingError
from imboost.pretraining import PretrainingSettings, draw_task, pretrain, training
from imboost.pretraining.__main__ import main
from imboost.pretraining.checkpoint import TrainingState
from imboost.pretraining.random_source import RandomSource

SETTINGS = PretrainingSettings(
    n_steps=6,
    n_tokens=4_000,
    width=8,
    n_layers=1,
    n_heads=2,
    max_context=32,
    max_columns=4,
    n_query=16,
)


@pytest.fixture(autouse=True)
def few_validation_tables(monkeypatch):
    monkeypatch.setattr("imboost.pretraining.training.N_VALIDATION", 2)


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
    before = (tmp_path / "checkpoint.safetensors").read_bytes()
    assert pretrain(SETTINGS, tmp_path).step == 6
    assert (tmp_path / "checkpoint.safetensors").read_bytes() == before


def test_the_log_has_a_line_per_validation(tmp_path):
    seen = []
    pretrain(SETTINGS, tmp_path, validate_every=2, report=seen.append)
    with (tmp_path / "log.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert [int(line["step"]) for line in lines] == [2, 4, 6]
    assert [float(line["loss"]) for line in lines] == [found.loss for found in seen]


def test_weights_are_the_average_with_the_lowest_validation_loss(tmp_path):
    state = pretrain(SETTINGS, tmp_path, validate_every=2)
    with safe_open(tmp_path / "weights.safetensors", framework="pt") as file:
        chosen = json.loads(file.metadata()["validation"])
        weight = file.get_tensor("score_marks")
    best = min(state.validations, key=lambda found: found.loss)
    assert chosen["step"] == best.step
    assert weight.dtype == torch.float16
    if best.step == 6:
        assert torch.equal(weight, state.average.score_marks.half())


def test_training_learns_the_outliers_of_a_few_tables(tmp_path, monkeypatch):
    settings = replace(SETTINGS, n_steps=150, learning_rate=1e-2, width=16, n_tokens=2_000)
    same = draw_task(settings, RandomSource((3,)))
    monkeypatch.setattr("imboost.pretraining.training.draw_task", lambda *_: same)
    monkeypatch.setattr("imboost.pretraining.training.WARMUP_STEPS", 10)
    state = pretrain(settings, tmp_path, validate_every=10)
    share = float(same.is_outlier[same.is_target].double().mean())
    without_rows = -share * math.log(share) - (1 - share) * math.log(1 - share)
    assert state.validations[-1].training_loss < 0.75 * without_rows


def test_other_settings_are_refused(tmp_path):
    pretrain(SETTINGS, tmp_path, max_seconds=0)
    with pytest.raises(SettingError, match="started with width 8, got 16"):
        pretrain(replace(SETTINGS, width=16), tmp_path)


def test_a_damaged_checkpoint_is_refused(tmp_path):
    (tmp_path / "checkpoint.safetensors").write_bytes(b"damaged")
    with pytest.raises(PersistenceError, match="is not a checkpoint"):
        TrainingState.load(tmp_path / "checkpoint.safetensors", torch.device("cpu"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_steps": 0}, "n_steps must be above 0"),
        ({"width": 9}, "multiple of n_heads"),
        ({"max_context": 8}, "max_context must be at least 32"),
    ],
)
def test_impossible_settings_are_refused(change, message):
    with pytest.raises(SettingError, match=message):
        replace(SETTINGS, **change)


def test_an_update_with_a_gradient_that_is_not_finite_is_left_out(tmp_path, monkeypatch):
    monkeypatch.setattr(
        "imboost.pretraining.training.task_loss",
        lambda network, task: network.score_marks.sum() * torch.nan,
    )
    state = pretrain(SETTINGS, tmp_path, max_seconds=0)
    start = TrainingState.start(SETTINGS, torch.device("cpu"))
    assert torch.equal(state.network.score_marks, start.network.score_marks)


OBSERVED_TRAINING = """
import sys
opened = []
sys.addaudithook(lambda event, args: opened.append(str(args[0])) if event == "open" else None)
from imboost.pretraining.__main__ import main
sys.argv[1:] = [{folder!r}, *"--n-steps 2 --n-tokens 2000 --width 8 --n-layers 1 --n-heads 2 "
    "--max-context 32 --max-columns 4 --n-query 16".split()]
main()
data = (".npz", ".npy", ".csv", ".gz", ".parquet", ".feather", ".arff", ".mat", ".data", ".db")
print("opened", [path for path in opened if path.endswith(data) and {folder!r} not in path])
rooms = ("imboost.datasets", "imboost.benchmark")
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
    assert "2 of 2 updates" in done.stdout
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
    entropy = training._mean_entropy
    calls = []

    def once_nan(log_odds, task):
        calls.append(log_odds)
        return entropy(log_odds, task) * (torch.nan if len(calls) <= 3 else 1.0)

    monkeypatch.setattr(training, "_mean_entropy", once_nan)  # an update, and two validations
    state = pretrain(SETTINGS, tmp_path, validate_every=1)
    assert math.isnan(state.validations[0].loss)
    assert math.isfinite(state.validations[-1].loss)
    assert (tmp_path / "weights.safetensors").exists()
