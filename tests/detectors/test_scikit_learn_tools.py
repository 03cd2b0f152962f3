"""Detectors in scikit-learn's searches, cross-validation and pipelines."""

import logging

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score

from conftest import make_quick
from imboost import TableDetector
from imboost.detectors import DETECTORS
from imboost.errors import UnknownNameError
from imboost.labels import unlabelled
from imboost.scorers import average_precision, roc_auc


@pytest.fixture
def partial(planted):
    return np.where(np.arange(len(planted.y)) % 3, -1, planted.y)


def test_nested_settings_change_a_detector_given_by_name():
    detector = TableDetector()
    assert detector.get_params()["detector__n_trees"] == 100
    detector.set_params(detector__n_trees=3, scaling="log")
    assert detector.get_params()["detector__n_trees"] == 3
    assert clone(detector).get_params()["detector__n_trees"] == 3
    assert detector.check_settings().n_trees == 3
    both = TableDetector().set_params(detector="trees", detector__n_isolation_trees=7)
    assert type(both.detector).__name__ == "Trees"
    assert both.check_settings().n_isolation_trees == 7


def test_an_unknown_nested_setting_is_an_error():
    with pytest.raises(ValueError, match="n_tres"):
        TableDetector().set_params(detector__n_tres=3)
    with pytest.raises(UnknownNameError, match="Did you mean 'stack'"):
        TableDetector("stak").set_params(detector__n_trees=3)


def test_partial_labels_take_part_in_cross_validation(planted, partial):
    folds = StratifiedKFold(3)
    for scorer in (roc_auc, average_precision):
        found = cross_val_score(make_quick("stack"), planted.X, partial, scoring=scorer, cv=folds)
        assert ((found > 0.5) & (found <= 1)).all()


def test_a_grid_search_sets_nested_settings(planted, partial):
    detector = TableDetector(make_quick("stack"), random_state=0)
    grid = {"detector__n_trees": [5, 10], "scaling": ["robust"]}
    search = GridSearchCV(detector, grid, scoring=roc_auc, cv=StratifiedKFold(2))
    search.fit(pd.DataFrame(planted.X).rename(columns=str), partial)
    assert search.best_score_ > 0.5
    assert search.best_estimator_.detector_.n_trees in (5, 10)


def test_a_score_needs_labels_of_both_classes(planted):
    detector = make_quick("stack").fit(planted.X)
    labels = unlabelled(300)
    labels[0] = 0
    assert np.isnan(roc_auc(detector, planted.X, labels))
    assert np.isnan(average_precision(detector, planted.X, labels))


@pytest.mark.parametrize("name", sorted(DETECTORS))
def test_predictions_of_no_rows_are_empty(planted, name):
    detector = make_quick(name).fit(planted.X)
    assert detector.predict(planted.X[:0]).shape == (0,)
    assert detector.predict_proba(planted.X[:0]).shape == (0, 2)


def test_predictions_of_a_table_without_rows_are_empty(planted):
    frame = pd.DataFrame(planted.X).rename(columns=str)
    for table in (frame, planted.X):
        detector = TableDetector(make_quick("stack")).fit(table)
        assert detector.predict(table[:0]).shape == (0,)
        assert detector.predict_proba(table[:0]).shape == (0, 2)


def test_columns_and_classes_are_known_after_fit(planted):
    frame = pd.DataFrame(planted.X, columns=list("abcde"))
    detector = TableDetector(make_quick("stack"))
    assert not hasattr(detector, "classes_")
    detector.fit(frame)
    assert detector.classes_.tolist() == detector.detector_.classes_.tolist() == [0, 1]
    assert detector.n_features_in_ == 5
    assert detector.feature_names_in_.tolist() == list("abcde")
    with pytest.raises(ValueError, match="X has 4 features, but TableDetector is expecting 5"):
        detector.fit(planted.X).predict(planted.X[:, :4])
    assert not hasattr(detector, "feature_names_in_")


def test_progress_is_logged(planted, caplog):
    caplog.set_level(logging.INFO, logger="imboost")
    make_quick("imboost").fit(planted.X)
    assert "IMBoost: warm-up: 6 epochs on 300 rows" in caplog.messages


def test_progress_is_shown_without_logging_of_the_programs_own(planted, monkeypatch, capsys):
    logger = logging.getLogger("imboost")
    monkeypatch.setattr(logger, "propagate", False)
    monkeypatch.setattr(logger, "handlers", [])
    monkeypatch.setattr(logger, "level", logging.NOTSET)
    make_quick("stack").fit(planted.X)
    assert capsys.readouterr().err == ""
    make_quick("stack", verbose=True).fit(planted.X)
    assert "Stack: unsupervised fit on 300 rows" in capsys.readouterr().err
