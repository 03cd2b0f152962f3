"""What a row's score comes with has one set of names."""

from imboost.scoring.score_files import PREDICTED, SCORE_COLUMNS, schema_of
from imboost.serving.schemas import Score


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
