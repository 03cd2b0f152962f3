"""Fit, score, explain and export from the shell."""

import gzip
import json
import re
import shlex
import signal
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet
import pytest

from imboost import persistence
from imboost.cli.explain import print_rows
from imboost.explain import Explanation
from imboost.facts import Fact, FactKind
from imboost.present.formatting import percent
from imboost.present.rows import RowView
from imboost.scoring import pipeline
from imboost.scoring.row_selection import SelectedRows
from imboost.scoring.score_files import score_lines
from imboost.tables.files import TableFiles
from imboost.tables.frames import to_arrow
from page_reading import outside_addresses, tags
from program_running import orders, read_scores, refused, run_program, run_well, write


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    """A folder with orders.csv and orders.model, fitted with no option but the file."""
    folder = tmp_path_factory.mktemp("shop")
    write(orders(), folder / "orders.csv")
    (folder / "output.txt").write_text(run_well("fit", folder / "orders.csv").text)
    return folder


@pytest.fixture
def model(shop):
    return shop / "orders.model"


@pytest.fixture
def data(shop):
    return shop / "orders.csv"


def test_fit_needs_nothing_but_the_file_and_says_what_it_found(shop, data, model):
    output = (shop / "output.txt").read_text()
    assert re.search(r"order_id +│ identifier", output)
    assert re.search(r"amount +│ numeric", output)
    assert re.search(r"ordered +│ datetime", output)
    assert f"Next: imboost score {model} {data}" in output
    detector = persistence.load(model)
    assert f"{detector.labels_.sum()} predicted outliers in 300 rows" in output
    assert detector.decision_function(data).shape == (300,)


def test_a_model_is_replaced_only_if_wanted(shop, data, model):
    before = (model / "checksums.txt").read_bytes()
    assert f"{model} exists" in refused("fit", data)
    assert "--force" in refused("fit", data)
    assert (model / "checksums.txt").read_bytes() == before
    out = shop / "again.model"
    run_well("fit", data, "--out", out, "--detector", "trees")
    run_well("fit", data, "--out", out, "--detector", "trees", "--force")


@pytest.mark.parametrize("force", [[], ["--force"]], ids=["", "force"])
def test_something_other_than_a_model_is_never_replaced(tmp_path, data, force):
    (tmp_path / "thesis.txt").write_text("precious")
    assert "exists and is not a model" in refused("fit", data, "--out", tmp_path, *force)
    file = tmp_path / "thesis.txt"
    assert "exists and is not a model" in refused("fit", data, "--out", file, *force)
    assert file.read_text() == "precious"


def test_scores_stand_beside_the_data_with_identifiers(shop, data, model):
    output = run_well("score", model, data).text
    found = read_scores(shop / "orders.scores.csv")
    assert list(found) == ["order_id", "row", "score", "probability", "is_outlier"]
    detector, table = persistence.load(model), to_arrow(data)
    assert found["order_id"] == table.column("order_id").to_pylist()
    assert found["row"] == list(range(300))
    np.testing.assert_allclose(found["score"], detector.decision_function(table))
    np.testing.assert_allclose(found["probability"], detector.predict_proba(table)[:, 1])
    assert [bool(called) for called in detector.predict(table)] == found["is_outlier"]
    assert re.search(r"300 rows in [\d.]+ s: [\d,]+ rows per second\.", output)
    assert f"{sum(found['is_outlier'])} predicted outliers in 300 rows" in output
    assert output.endswith("Read 300 rows, wrote 300 scores.")


def test_a_column_that_can_no_longer_be_read_is_reported(tmp_path, model):
    table = orders()
    at = table.column_names.index("amount")
    changed = table.set_column(at, "amount", pa.array(["many"] * table.num_rows))
    output = run_well("score", model, write(changed, tmp_path / "changed.csv")).text
    assert (
        "Warning: column 'amount': 300 cells (100%) hold no number and count as missing." in output
    )
    assert "Warning" not in run_well("score", model, write(table, tmp_path / "same.csv")).text


def test_a_column_that_is_missing_now_is_reported(tmp_path, model):
    table = orders()
    at = table.column_names.index("amount")
    changed = table.set_column(at, "amount", pa.nulls(table.num_rows, pa.float64()))
    output = run_well("score", model, write(changed, tmp_path / "changed.csv")).text
    assert "Warning: column 'amount': all cells are missing." in output


def test_a_table_with_far_more_outliers_than_in_training_is_reported(tmp_path, model):
    table = orders()
    for name in ("amount", "tax", "weight", "height", "age", "balance"):
        at = table.column_names.index(name)
        far = pc.multiply(table.column(name).cast(pa.float64()), 1000.0)
        table = table.set_column(at, name, far)
    output = run_well("score", model, write(table, tmp_path / "moved.csv")).text
    then = persistence.load(model).labels_.mean()
    assert re.search(r"Warning: (99|100)% of the rows are predicted outliers, ", output)
    assert f", {percent(then)} in training. The data may have changed since." in output
    few = run_well("score", model, write(table.slice(0, 5), tmp_path / "few.csv")).text
    assert "5 predicted outliers in 5 rows" in few
    assert "may have changed" not in few


def test_parquet_in_parquet_out_with_the_same_scores(tmp_path, shop, data, model):
    table = write(orders(), tmp_path / "orders.parquet")
    run_well("score", model, table)
    run_well("score", model, data, "--out", tmp_path / "from.csv")
    found = read_scores(tmp_path / "orders.scores.parquet")
    np.testing.assert_allclose(found["score"], read_scores(tmp_path / "from.csv")["score"])


def test_scores_may_be_compressed(tmp_path, data, model):
    run_well("score", model, data, "--out", tmp_path / "scores.tsv.gz")
    text = gzip.decompress((tmp_path / "scores.tsv.gz").read_bytes()).decode()
    assert text.splitlines()[0].count("\t") == 4
    assert len(text.splitlines()) == 301


def test_a_table_is_scored_in_batches_of_bounded_size(tmp_path, data, monkeypatch):
    model = tmp_path / "model"
    run_well("fit", data, "--out", model, "--detector", "imboost")
    parts = tmp_path / "parts"
    parts.mkdir()
    table = orders(500, seed=1)
    for number, start in enumerate((0, 130, 260)):
        write(table.slice(start, 130), parts / f"{number}.parquet")
    seen = []

    def score_batch(detector, batch):
        seen.append(batch[1].num_rows)
        return score(detector, batch)

    score = pipeline.score_batch
    monkeypatch.setattr(pipeline, "score_batch", score_batch)
    monkeypatch.setattr(pipeline, "BATCH_ROWS", 50)
    monkeypatch.setattr(pipeline, "n_cores", lambda: 2)
    run_well("score", model, parts)
    assert max(seen) == 50
    assert sum(seen) == 390
    found = read_scores(tmp_path / "parts.scores.parquet")
    assert pyarrow.parquet.read_metadata(tmp_path / "parts.scores.parquet").num_row_groups == 1
    assert found["row"] == list(range(390))
    assert found["order_id"] == table.column("order_id").to_pylist()[:390]
    expected = persistence.load(model).decision_function(table.slice(0, 390))
    np.testing.assert_allclose(found["score"], expected)


def test_every_command_says_how_many_rows_it_read_and_used(shop, data, model):
    assert "Read 300 rows, trained on 300." in (shop / "output.txt").read_text()
    assert run_well("score", model, data).lines[-1] == "Read 300 rows, wrote 300 scores."
    one = run_well("explain", model, data, "--row", "A0000017")
    assert one.lines[-1] == "Read 300 rows, explained 1."
    three = run_well("explain", model, data)
    assert three.lines[-1] == "Read 300 rows, explained 3."
    assert run_well("report", model, data).lines[-1] == "Read 300 rows, scored 300."


def test_a_row_that_is_not_written_is_an_error(tmp_path, data, model, monkeypatch):
    def lose_a_row(batch, *more):
        return score_lines(batch, *more).slice(1)

    monkeypatch.setattr("imboost.scoring.score_files.score_lines", lose_a_row)
    out = tmp_path / "scores.csv"
    assert "Read 300 rows but wrote 29" in refused("score", model, data, "--out", out)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["score", "explain", "report"])
def test_a_row_that_is_not_scored_is_an_error(tmp_path, model, command, monkeypatch):
    path = write(orders(), tmp_path / "orders.parquet")
    monkeypatch.setattr(TableFiles, "n_rows", 301)
    assert "Read 301 rows but scored 300" in refused(command, model, path)
    assert [child.name for child in tmp_path.iterdir()] == ["orders.parquet"]


def test_a_row_that_is_not_loaded_for_training_is_an_error(tmp_path, monkeypatch):
    path = write(orders(), tmp_path / "orders.parquet")
    monkeypatch.setattr(TableFiles, "n_rows", 301)
    assert "Read 301 rows but loaded 300" in refused("fit", path)


def test_a_table_without_rows_gives_scores_without_rows(tmp_path, data, model):
    path = write(orders().slice(0, 0), tmp_path / "none.csv")
    assert "0 rows in" in run_well("score", model, path).text
    assert list(read_scores(tmp_path / "none.scores.csv").values()) == [[]] * 5


def test_columns_that_are_not_used_may_be_missing(tmp_path, data, model):
    path = write(orders().drop_columns(["order_id"]), tmp_path / "bare.csv")
    run_well("score", model, path)
    found = read_scores(tmp_path / "bare.scores.csv")
    assert list(found) == ["row", "score", "probability", "is_outlier"]
    path = write(orders().drop_columns(["amount"]), tmp_path / "less.csv")
    assert "lacks the column 'amount'" in refused("score", model, path)
    assert not (tmp_path / "less.scores.csv").exists()


@pytest.mark.parametrize("command", ["score", "explain", "report"])
def test_columns_that_training_had_not_are_refused_by_name(tmp_path, model, command):
    table = orders().append_column("remark", pa.array(["x"] * 300))
    line = refused(command, model, write(table, tmp_path / "more.csv"))
    assert "'remark'" in line


def test_another_order_changes_nothing(tmp_path, data, model):
    table = orders()
    path = write(table.select(table.column_names[::-1]), tmp_path / "more.csv")
    run_well("score", model, path)
    run_well("score", model, data, "--out", tmp_path / "scores.csv")
    assert read_scores(tmp_path / "more.scores.csv") == read_scores(tmp_path / "scores.csv")
    row = ("--row", "A0000017")
    assert (
        run_well("explain", model, path, *row).text == run_well("explain", model, data, *row).text
    )


@pytest.mark.parametrize("command", ["score", "explain", "report"])
def test_the_model_comes_before_the_table(tmp_path, data, model, command):
    assert f"give {model} {data}" in refused(command, data, model)
    assert "does not exist: create it with 'imboost fit'" in refused(
        command, tmp_path / "no.model", data
    )


def test_fit_says_that_without_labels_the_threshold_is_an_estimate(shop, tmp_path, data):
    assert "the threshold is a rough estimate" in (shop / "output.txt").read_text()
    given = ("--contamination", "0.05", "--detector", "trees", "--out", tmp_path / "model")
    assert "rough estimate" not in run_well("fit", data, *given).text


def test_an_identifier_may_have_the_name_of_a_score_column(tmp_path):
    table = pa.table({"row": range(100), "size": [1.0, 2.0, 3.0, 4.0] * 25})
    data = write(table, tmp_path / "table.csv")
    run_well("fit", data, "--detector", "trees")
    run_well("score", tmp_path / "table.model", data)
    found = read_scores(tmp_path / "table.scores.csv")
    assert list(found) == ["row", "row_", "score", "probability", "is_outlier"]


def test_an_interrupted_run_leaves_no_file(tmp_path, data, model, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    out = tmp_path / "scores.csv"
    out.write_text("of yesterday")
    monkeypatch.setattr("imboost.scoring.score_files.score_lines", interrupt)
    assert run_program("score", model, data, "--out", out).code == 130
    assert [path.name for path in tmp_path.iterdir()] == ["scores.csv"]
    assert out.read_text() == "of yesterday"


def test_the_commands_that_fit_suggests_read_the_table_as_it_did(tmp_path):
    data = tmp_path / "no header.csv"
    rows = np.random.default_rng(0).normal(size=(40, 2))
    np.savetxt(data, rows, delimiter=";", fmt="%.3f")
    lines = run_well("fit", data, "--header", "no", "--encoding", "cp1252").lines
    [suggested] = [line for line in lines if line.startswith("Next: imboost score")]
    run_well(*shlex.split(suggested)[2:])


def test_a_program_that_is_reported_to_end_leaves_no_file(tmp_path, data, model):
    code = (
        "import signal\n"
        "from imboost.cli import main as cli\n"
        "from imboost.scoring import score_files\n"
        "def write(*_):\n"
        "    print('writing', flush=True)\n"
        "    signal.pause()\n"
        "score_files.score_lines = write\n"
        "cli.main()\n"
    )
    arguments = ["score", str(model), str(data), "--out", str(tmp_path / "scores.csv")]
    with subprocess.Popen(
        [sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE, text=True
    ) as program:
        assert program.stdout.readline() == "writing\n"
        assert len(list(tmp_path.iterdir())) == 1
        program.terminate()
    assert program.returncode == 128 + signal.SIGTERM
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("out", "message"),
    [
        ("scores.docx", "must end with .csv"),
        ("orders.csv", "is the table itself"),
        ("orders.model", "must end with .csv"),
    ],
)
def test_scores_are_not_written_where_they_should_not_be(shop, data, model, out, message):
    before = data.read_bytes()
    assert message in refused("score", model, data, "--out", shop / out)
    assert data.read_bytes() == before


def test_labels_are_no_feature(tmp_path):
    data = write(orders(labelled=True), tmp_path / "orders.csv")
    output = run_well("fit", data, "--label-column", "is_wrong").text
    assert re.search(r"is_wrong +│ label", output)
    assert re.search(r"Labels: \d+ outliers, \d+ inliers, 150 unlabelled", output)
    model = tmp_path / "orders.model"
    assert "is_wrong" not in persistence.load(model).encoder_.encoders
    run_well("score", model, data)
    bare = write(orders(), tmp_path / "bare.csv")
    run_well("score", model, bare)
    assert read_scores(tmp_path / "orders.scores.csv") == read_scores(tmp_path / "bare.scores.csv")


def test_labels_in_other_spellings_need_the_one_that_means_outlier(tmp_path):
    labels = ["fraud" if row % 20 == 0 else "fine" for row in range(200)]
    table = orders(200).append_column("fraud_check", pa.array(labels))
    data = write(table, tmp_path / "orders.csv")
    fit = ("fit", data, "--detector", "trees", "--label-column")
    line = refused(*fit, "fraud_check")
    assert "Column 'fraud_check'" in line
    assert "'fine' (190 rows), 'fraud' (10 rows)" in line
    assert "--outlier-label" in line
    output = run_well(*fit, "fraud_check", "--outlier-label", "Fraud").text
    assert "Labels: 10 outliers, 190 inliers, 0 unlabelled." in output
    assert "No label is 'theft'" in refused(
        *fit, "fraud_check", "--outlier-label", "theft", "--force"
    )
    assert "Did you mean 'fraud_check'" in refused(*fit, "fraud_chek", "--force")
    assert "cannot have another role" in refused(
        *fit, "fraud_check", "--role", "fraud_check=text", "--force"
    )
    assert "needs --label-column" in refused("fit", data, "--outlier-label", "fraud", "--force")


def test_fit_prints_how_it_read_the_label_column(tmp_path):
    labels = ["Fraud", "legit", "legit", "pending", "legit", "?", "open", "n/a"] * 25
    labels[0], labels[8] = "fraud", "unsure"
    table = orders(200).append_column("fraud_check", pa.array(labels))
    data = write(table, tmp_path / "orders.parquet")
    fit = ("fit", data, "--detector", "trees", "--label-column", "fraud_check")
    output = run_well(*fit, "--outlier-label", "fraud").text
    assert "outlier: 'Fraud' (23 rows), 'fraud' (1 row); inlier: 'legit' (75 rows)" in output
    assert re.search(r"unlabelled: 'pending' \(25 rows\), .*, 2 other labels\.", output)
    assert "Labels: 24 outliers, 75 inliers, 101 unlabelled." in output


def test_one_label_of_a_class_is_singular(tmp_path):
    labels = ["yes", *["no"] * 198, None]
    table = orders(200).append_column("fraud_check", pa.array(labels))
    data = write(table, tmp_path / "orders.csv")
    output = run_well("fit", data, "--detector", "trees", "--label-column", "fraud_check").text
    assert "Labels: 1 outlier, 198 inliers, 1 unlabelled." in output
    assert "outlier: 'yes' (1 row); inlier: 'no' (198 rows); unlabelled: empty (1 row)." in output


def test_roles_may_be_given_in_a_file(tmp_path):
    write(orders(), tmp_path / "orders.csv")
    (tmp_path / "roles.toml").write_text('[roles]\nregion = "ignored"\nvisits = "categorical"\n')
    roles = ("--roles", tmp_path / "roles.toml", "--role", "visits=numeric")
    output = run_well("fit", tmp_path / "orders.csv", *roles, "--detector", "trees").text
    assert re.search(r"region +│ ignored", output)
    assert re.search(r"visits +│ numeric", output)
    (tmp_path / "roles.toml").write_text("[roles]\nnobody = 'numeric'")
    error = refused("fit", tmp_path / "orders.csv", *roles[:2], "--force")
    assert "Unknown column 'nobody'" in error


def test_roles_may_be_given(tmp_path):
    data = write(orders(), tmp_path / "orders.csv")
    out = ("--detector", "trees", "--out", tmp_path / "m")
    output = run_well(
        "fit", data, *out, "--role", "visits=categorical", "--role", "age=ignored"
    ).text
    assert re.search(r"visits +│ categorical", output)
    assert re.search(r"age +│ ignored", output)
    assert "written NAME=ROLE" in refused("fit", data, "--role", "visits")
    assert "Unknown role 'number'" in refused("fit", data, "--role", "age=number")
    assert "Did you mean 'visits'" in refused("fit", data, "--role", "visit=text")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--detector", "stuck"), "Did you mean 'stack'"),
        (("--detector", "xgbod"), "cannot be saved"),
        (("--scaling", "robst"), "Did you mean 'robust'"),
        (("--contamination", "0.9"), "contamination must be"),
        (("--contamination", "some"), "contamination must be a number or 'auto', got 'some'"),
    ],
    ids=lambda part: "-".join(part) if isinstance(part, tuple) else "",
)
def test_wrong_settings_are_reported_before_any_training(tmp_path, data, options, message):
    out = tmp_path / "model"
    assert message in refused("fit", data, "--out", out, *options)
    assert not out.exists()


def test_the_share_of_outliers_is_found_or_given(tmp_path, data):
    out = ("--out", tmp_path / "model", "--detector", "trees", "--force")
    for contamination in ("auto", 0.2):
        run_well("fit", data, *out, "--contamination", contamination)
        assert persistence.load(tmp_path / "model").contamination == contamination


def test_the_seed_decides(tmp_path, data):
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        options = ("--detector", "trees", "--seed", seed)
        run_well("fit", data, "--out", tmp_path / name, *options)
    scores = {name: persistence.load(tmp_path / name).decision_function(data) for name in "abc"}
    np.testing.assert_array_equal(scores["a"], scores["b"])
    assert (scores["a"] != scores["c"]).any()


def test_the_highest_scores_are_explained_if_no_row_is_named(data, model):
    output = run_well("explain", model, data, "--top", 2).text
    scores = persistence.load(model).decision_function(data)
    names = re.findall(r"order_id (A\d+): score", output)
    assert names == [f"A{row:07d}" for row in np.argsort(-scores, kind="stable")[:2]]
    assert output.count(": score") == 2
    assert "█" in output


def figures(output):
    """Return name and figure of every line of the first explanation, down to the score."""
    _, heading, _, *lines = output.replace("\N{MINUS SIGN}", "-").splitlines()
    end = heading.index("contribution") + len("contribution")
    last = next(place for place, line in enumerate(lines) if line.startswith("score"))
    return [
        (line.split("  ")[0], line[:end].split()[-1])
        for line in lines[: last + 1]
        if not line.startswith(" ")
    ]


@pytest.mark.parametrize("detector", ["stack", "imboost"])
def test_contributions_sum_to_the_score(tmp_path, data, model, detector, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    if detector == "imboost":
        model = tmp_path / "model"
        run_well("fit", data, "--out", model, "--detector", detector)
    output = run_well("explain", model, data, "--top", 1).text
    *added, score = figures(output)
    assert list(dict(added))[-3:] == ["6 other columns", "residual", "baseline"]
    assert len(added) == 8 + 3
    rounding = len(added) * 0.5 * 10.0 ** -len(score[1].split(".")[1])
    assert sum(float(figure) for _, figure in added) == pytest.approx(
        float(score[1]), abs=rounding
    )
    message = "exact: they are terms" if detector == "imboost" else "estimates: half by"
    assert f"Contributions are {message}" in output
    assert ("exceeds the typical one" in output) == (detector == "imboost")


def test_a_row_that_no_column_explains_is_said_to_be_unusual_as_a_whole(capsys):
    reason = Fact(kind=FactKind.VALUE, columns=("size",), text="7", contribution=0.5)
    message = Explanation(score=4.0, baseline=1.0, residual=2.5, is_exact=True, reasons=[reason])
    row = RowView(
        row=1, name="row 1", score=4.0, probability=1.0, is_outlier=True, explanation=message
    )
    print_rows([row], 3.0)
    output = capsys.readouterr().out
    assert "the row is unusual as a whole" in " ".join(output.split())
    assert re.search(r"residual +\+2\.500", output)
    assert not replace(row, is_outlier=False).warning


def test_a_row_is_explained_by_its_identifier(tmp_path, data, model):
    page = tmp_path / "page.html"
    output = run_well(
        "explain", model, data, "--row", "A0000017", "--row", "A0000003", "--out", page
    )
    assert re.findall(r"order_id (A\d+): score", output.text) == ["A0000017", "A0000003"]
    html = page.read_text(encoding="utf-8")
    assert "order_id A0000017" in html
    assert outside_addresses(html) == []
    assert "script" not in tags(html)
    line = refused("explain", model, data, "--row", "A17")
    assert "No row has the order_id A17. Give a value of order_id, such as A0000000." in line


def test_the_names_that_check_prints_are_those_that_explain_takes(tmp_path):
    table = orders().to_pandas()
    table["order_id"] = range(1, len(table) + 1)  # row numbers of other rows
    data, roles = tmp_path / "orders.csv", ("--role", "order_id=identifier")
    table.to_csv(data, index=False)
    run_well("fit", data, "--detector", "imboost", *roles)
    table["amount"] = table["amount"].astype(object)
    table.loc[20, "amount"] = "many"
    table.to_csv(data, index=False)
    found = run_program("check", data, *roles, "--only", "unreadable").text
    assert "order_id 21" in " ".join(found.split())
    for name, number in (("order_id 21", 20), ("21", 20), ("row 21", 21)):
        ended = run_program("explain", tmp_path / "orders.model", data, "--row", name, "--json")
        assert json.loads(ended.text)["rows"][0]["row"] == number


def test_a_repeated_identifier_is_refused_and_its_rows_are_named_by_number(tmp_path, data, model):
    table = orders().to_pandas()
    table.loc[30, "order_id"] = table.loc[17, "order_id"]
    table.to_csv(tmp_path / "orders.csv", index=False)
    line = refused("explain", model, tmp_path / "orders.csv", "--row", "A0000017")
    assert "2 rows have the order_id A0000017" in line
    assert "'row 17' and 'row 30'" in line
    assert "row 30: score" not in run_well("explain", model, data, "--row", "row 30").text
    ended = run_program("check", tmp_path / "orders.csv", "--only", "repeated-ids")
    assert "row 30" in " ".join(ended.text.split())


def test_a_row_is_explained_by_its_number_where_there_is_no_identifier(tmp_path):
    data = write(orders().drop_columns(["order_id"]), tmp_path / "orders.csv")
    run_well("fit", data, "--detector", "imboost")
    model = tmp_path / "orders.model"
    assert "row 17: score" in run_well("explain", model, data, "--row", 17).text
    assert "There is no row 300" in refused("explain", model, data, "--row", 300)
    assert "give a row number, counted from 0" in refused("explain", model, data, "--row", "A17")


def test_an_identifier_may_have_no_name(tmp_path):
    table = pa.table({"": range(5, 105), "size": [1.0, 2.0, 3.0, 4.0] * 25})
    data = write(table, tmp_path / "table.csv")
    run_well("fit", data, "--detector", "imboost")
    model = tmp_path / "table.model"
    assert "identifier 17: score" in run_well("explain", model, data, "--row", 17).text
    line = refused("explain", model, data, "--row", 3)
    assert "No row has the identifier 3. Give a value of identifier, such as 5." in line


def test_names_from_the_table_are_no_markup(tmp_path):
    table = pa.table({"[red]<b>x": [1.0, 2.0, 3.0, 4.0] * 25, "kind": ["[b]a", "<i>b"] * 50})
    data = write(table, tmp_path / "markup.csv")
    assert "[red]<b>x" in run_well("fit", data).text
    page = tmp_path / "page.html"
    output = run_well("explain", tmp_path / "markup.model", data, "--top", 1, "--out", page).text
    assert "[red]<b>x" in output
    assert "<b>x" not in page.read_text(encoding="utf-8")


def test_a_folder_without_a_model_is_reported(tmp_path, data):
    for command in ("score", "explain", "report"):
        assert "is not a saved model" in refused(command, tmp_path, data)
    assert "is not a saved model" in refused("serve", tmp_path)
    assert "is not a saved model" in refused("export", tmp_path, "--onnx", tmp_path / "model.onnx")


def test_a_detector_of_matrices_is_no_model_for_tables(tmp_path, data, planted):
    from conftest import make_quick

    persistence.save(make_quick("imboost").fit(planted.X), tmp_path / "model")
    assert "scores arrays" in refused("score", tmp_path / "model", data)


def test_a_model_is_exported(tmp_path, data):
    pytest.importorskip("onnxruntime")
    run_well("fit", data, "--detector", "imboost", "--out", tmp_path / "model")
    out = tmp_path / "model.onnx"
    assert f"wrote {out}" in run_well("export", tmp_path / "model", "--onnx", out).text
    assert out.stat().st_size > 1000


@pytest.fixture(scope="module")
def fast(shop):
    """The model of orders.csv, distilled, and what the command printed."""
    printed = run_well("export", shop / "orders.model", "--fast", "--data", shop / "orders.csv")
    return shop / "orders.fast.model", printed.text


def test_a_distilled_model_is_written_with_its_agreement(fast, model, data):
    folder, printed = fast
    assert re.search(r"Agreement on 60 held-out rows: rank correlation 0\.\d+", printed)
    assert f"Model: {folder}" in printed
    assert f"{folder} exists" in refused("export", model, "--fast", "--data", data)


def test_a_distilled_model_scores_and_says_so(fast, data, tmp_path):
    out = tmp_path / "scores.parquet"
    printed = run_well("score", fast[0], data, "--out", out).text
    assert "Scored by Distilled(Stack)." in printed
    assert pyarrow.parquet.read_schema(out).metadata[b"imboost.model"] == b"Distilled(Stack)"
    expected = persistence.load(fast[0]).decision_function(data)
    np.testing.assert_allclose(pyarrow.parquet.read_table(out)["score"], expected)
    with_reasons = ("score", fast[0], data, "--reasons", "3", "--out", out)
    assert "use the model it was distilled from or leave out --reasons" in refused(*with_reasons)
    assert "use the model it was distilled from" in refused("explain", fast[0], data)


def test_a_distilled_model_that_disagrees_is_not_written(model, data, tmp_path, monkeypatch):
    monkeypatch.setattr("imboost.training.distillation.N_UPDATES", 2)
    out = tmp_path / "poor.model"
    line = refused("export", model, "--fast", "--data", data, "--out", out)
    assert "rank correlation" in line
    assert not out.exists()


def test_an_unknown_label_column_of_a_small_table_is_not_accepted(model, data, tmp_path):
    command = ("export", model, "--fast", "--data", data, "--out", tmp_path / "fast.model")
    assert "Unknown column 'lable'" in refused(*command, "--label-column", "lable")
    assert not (tmp_path / "fast.model").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "Nothing to write"),
        (["--fast"], "--fast needs --data"),
        (["--onnx", "x.onnx", "--out", "x"], "--out needs --fast"),
        (["--onnx", "x.onnx"], "Distill it first"),
    ],
)
def test_options_of_export_are_checked(model, options, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert message in refused("export", model, *options)
    assert not any(tmp_path.iterdir())


def test_the_metadata_of_a_model_can_be_read_by_anyone(model):
    assert json.loads((model / "model.json").read_text())["training"]["rows"] == 300


def test_a_row_is_called_by_the_number_that_explain_takes():
    assert SelectedRows(pa.table({"a": [1]}), [1234], 2000).names(None) == ["row 1234"]
