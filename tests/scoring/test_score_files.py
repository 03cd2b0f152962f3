"""What a row's score comes with has one set of names."""

import pyarrow as pa
import pyarrow.parquet as pq

from conftest import make_quick
from imboost import TableDetector
from imboost.present import wording
from imboost.scoring import score_files
from imboost.scoring.row_selection import SelectedRows
from imboost.scoring.score_files import (
    PREDICTED,
    SCORE_COLUMNS,
    find_reasons,
    schema_of,
    write_reasons,
)
from imboost.scoring.table_writers import WriteOptions
from imboost.serving.schemas import Score
from program_running import orders


def test_the_service_replies_with_the_columns_of_score_files():
    fields = {name: field.annotation for name, field in Score.model_fields.items()}
    del fields["identifiers"]
    assert fields == {"score": float, "probability": float, "is_outlier": bool}
    assert list(fields) == list(PREDICTED[1:])


def test_the_columns_keep_their_order_and_types():
    assert [name for name in SCORE_COLUMNS if name in PREDICTED] == list(PREDICTED)
    assert schema_of("row", "answer").types == [
        SCORE_COLUMNS["row"],
        SCORE_COLUMNS["answer"],
    ]


def test_every_row_has_its_own_reasons(monkeypatch):
    monkeypatch.setattr(score_files, "ROWS_AT_ONCE", 2)
    table, numbers = orders(300), [7, 3, 250, 40, 41]
    detector = TableDetector(make_quick("stack"), random_state=0).fit(table)
    done = []
    found = find_reasons(detector, SelectedRows(table.take(numbers), numbers, 300), done.append)
    for number in numbers:
        [explanation] = detector.explain(table.slice(number, 1))
        assert found[number][1] == wording.reasons(explanation.main_reasons)
    assert done == [2, 2, 1]


def test_reasons_stand_beside_the_rows_with_their_numbers(tmp_path):
    scores, out, n_rows = tmp_path / "scores.parquet", tmp_path / "out.parquet", 140_000
    pq.write_table(pa.table({"row": range(n_rows)}), scores)
    reasons = {row: (["size"], f"{row}.") for row in (5, 70_000, n_rows - 1)}
    write_reasons(scores, out, reasons, WriteOptions())
    written = pq.read_table(out).drop_null()
    assert written["row"].to_pylist() == list(reasons)
    assert written["reason"].to_pylist() == [text for _, text in reasons.values()]
