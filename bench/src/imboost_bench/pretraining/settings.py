"""Settings of the pretraining."""

from __future__ import annotations

from dataclasses import dataclass, fields

from imboost.errors import SettingError
from imboost.validation import check_number

MIN_CONTEXT, MAX_CONTEXT = 32, 2048  # rows of the smallest and of the largest context
MIN_COLUMNS = 3  # columns of the narrowest table


@dataclass(frozen=True, kw_only=True)
class PretrainingSettings:
    """Everything that decides the weights, apart from the device and the initial weights.

    The size of the network is that of `InContextNetwork`.
    """

    n_steps: int = 12_000  # updates; the learning rate falls to 0 towards the last one
    n_tokens: int = 1_000_000  # of an update: tables x rows x tokens per row
    learning_rate: float = 2e-3  # the peak, of AdamW
    matrix_learning_rate: float = 0.04  # of Muon
    weight_decay: float = 1e-2
    width: int = 64
    n_layers: int = 4
    n_heads: int = 2
    row_width: int = 256
    n_row_layers: int = 4
    n_row_heads: int = 8
    max_context: int = 768  # rows; the smallest context has about a fifth
    max_columns: int = 24
    n_query: int = 192  # rows of each table outside the context
    seed: int = 0  # of the initial weights and of all tables

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name in ("seed", "weight_decay"):
                check_number(field.name, value, minimum=0, whole=field.name == "seed")
            else:
                check_number(field.name, value, above=0, whole=isinstance(field.default, int))
        multiples = (("width", "n_heads"), ("row_width", "n_row_heads"), ("row_width", "width"))
        for name, part in multiples:
            value, divisor = getattr(self, name), getattr(self, part)
            if value % divisor:
                raise SettingError(
                    f"{name} must be a multiple of {part}, got {value} and {divisor}."
                )
        check_number("max_context", self.max_context, minimum=MIN_CONTEXT, maximum=MAX_CONTEXT)
        check_number("max_columns", self.max_columns, minimum=MIN_COLUMNS)
