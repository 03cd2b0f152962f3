"""`python -m imboost_bench.pretraining`: train the in-context network on synthetic tables."""

from __future__ import annotations

import argparse
import math
from dataclasses import fields
from pathlib import Path

from imboost.errors import IMBoostError, SettingError
from imboost_bench.pretraining.settings import PretrainingSettings
from imboost_bench.pretraining.training import pretrain


def main() -> None:
    """Parse the options and train; a user's mistake ends with one line and exit code 2."""
    parser = argparse.ArgumentParser(
        prog="python -m imboost_bench.pretraining",
        description="Train the in-context network on synthetic tables. The same command continues "
        "an interrupted training.",
    )
    parser.add_argument("folder", type=Path, help="folder for checkpoint, log and weights")
    parser.add_argument("--device", default="cpu", help="cpu or cuda (default: %(default)s)")
    parser.add_argument(
        "--initial-weights",
        type=Path,
        metavar="FILE",
        help="weights.safetensors to start from; not read if the folder has a checkpoint",
    )
    parser.add_argument(
        "--minutes", type=float, default=float("inf"), help="stop after this time, to be continued"
    )
    parser.add_argument(
        "--validate-every", type=int, default=500, metavar="N", help="updates (default: 500)"
    )
    names = [field.name for field in fields(PretrainingSettings)]
    for field in fields(PretrainingSettings):
        option = f"--{field.name.replace('_', '-')}"
        text = f"(default: {field.default})"
        kind: type = type(field.default)
        parser.add_argument(option, type=kind, default=field.default, metavar="N", help=text)
    options = vars(parser.parse_args())
    try:
        if math.isnan(options["minutes"]):
            raise SettingError("--minutes must be a number, got nan.")
        settings = PretrainingSettings(**{name: options[name] for name in names})
        pretrain(
            settings,
            options["folder"],
            device=options["device"],
            initial_weights=options["initial_weights"],
            max_seconds=60 * options["minutes"],
            validate_every=options["validate_every"],
            report=lambda found: print(
                f"{found.step:,} updates, {found.seconds / 60:.1f} min: training loss "
                f"{found.training_loss:.4f}, validation loss {found.loss:.4f}, "
                f"AUC {found.auc:.3f}, AP {found.ap:.3f}",
                flush=True,
            ),
        )
    except (IMBoostError, OSError) as error:
        parser.exit(2, f"imboost: {error}\n")


if __name__ == "__main__":
    main()
