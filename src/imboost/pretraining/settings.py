"""Settings of the pretraining."""

from __future__ import annotations

from dataclasses import dataclass, fields

from imboost.errors import SettingError
from imboost.validation import check_number

MIN_CONTEXT = 32  # rows of the smallest context
MIN_COLUMNS = 3  # columns of the narrowest table


@dataclass(frozen=True, kw_only=True)
class PretrainingSettings:
    """Everything that decides the weights, apart from the device.

    Parameters
    ----------
    n_steps : int
        Updates in all. The learning rate falls to 0 towards the last one.
    n_tokens : int
        Cells of an update: tables x rows x tokens per row. Decides the number of tables.
    learning_rate, matrix_learning_rate : float
        Peaks of the learning rates, of AdamW and of Muon.
    weight_decay : float
    width, n_layers, n_heads : int
        Size of the network.
    max_context, max_columns : int
        Largest number of context rows and of columns.
    n_query : int
        Rows of each table that are outside the context.
    seed : int
        Of the initial weights and of all tables.
    """

    n_steps: int = 12_000
    n_tokens: int = 500_000
    learning_rate: float = 2e-3
    matrix_learning_rate: float = 0.02
    weight_decay: float = 1e-2
    width: int = 128
    n_layers: int = 6
    n_heads: int = 4
    max_context: int = 768
    max_columns: int = 24
    n_query: int = 192
    seed: int = 0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name in ("seed", "weight_decay"):
                check_number(field.name, value, minimum=0, whole=field.name == "seed")
            else:
                check_number(field.name, value, above=0, whole=isinstance(field.default, int))
        if self.width % self.n_heads:
            raise SettingError(
                f"width must be a multiple of n_heads, got {self.width} and {self.n_heads}."
            )
        if self.max_context < MIN_CONTEXT or self.max_columns < MIN_COLUMNS:
            raise SettingError(
                f"max_context must be at least {MIN_CONTEXT} and max_columns at least "
                f"{MIN_COLUMNS}, got {self.max_context} and {self.max_columns}."
            )
