"""Ray scores as one machine does, whatever dies in the middle."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from imboost import persistence
from imboost.detectors.table_detector import TableDetector
from imboost.errors import DataError, MissingPackageError, SettingError
from imboost.scoring import pipeline, ray_engine, row_selection, score_files
from imboost.scoring.part_scores import MANIFEST
from imboost.scoring.ray_engine import RayScores, draw_sample_on_ray
from imboost.scoring.row_selection import draw_sample
from imboost.tables import files
from imboost.tables.files import Part, TableFiles, TableParts
from program_running import orders, refused, run_well, write

N_ROWS, GROUP_ROWS = 4000, 250


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    """A folder with a model and a table of two files, of eight row groups each."""
    folder = tmp_path_factory.mktemp("shop")
    table = orders(N_ROWS)
    (folder / "orders").mkdir()
    for number, first in enumerate(range(0, N_ROWS, N_ROWS // 2)):
        part = table.slice(first, N_ROWS // 2)
        pq.write_table(part, folder / "orders" / f"{number}.parquet", row_group_size=GROUP_ROWS)
    fitted = TableDetector("trees", random_state=0).fit(table.slice(0, 500))
    persistence.save(fitted, folder / "orders.model")
    return folder


@pytest.fixture(scope="module")
def cluster():
    """Two nodes of one core each, to which this process is connected."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    ray = pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    started = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    started.add_node(num_cpus=1)
    ray.init(address=started.address, log_to_driver=False, logging_level="ERROR")
    yield started
    ray.shutdown()
    started.shutdown()


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(files, "PART_ROWS", 500)


@pytest.fixture(scope="module")
def expected(shop):
    """The scores of one machine."""
    out = shop / "expected.parquet"
    run_well("score", shop / "orders.model", shop / "orders", "--out", out)
    return pq.read_table(out)


def score(shop, out, progress=lambda _: None):
    scores = RayScores(shop / "orders.model", shop / "orders", out)
    scores.run(progress=progress)
    return scores


def assert_complete(out, expected):
    """Assert that the parts are the file that one machine writes, bit for bit."""
    assert TableFiles.find(out).read().equals(expected)
    manifest = json.loads((out / MANIFEST).read_text())
    assert manifest["n_rows"] == N_ROWS
    names = [part["name"] for part in manifest["parts"]]
    assert sorted(path.name for path in out.iterdir()) == sorted([MANIFEST, *names])


def test_parts_are_whole_row_groups_and_hold_every_row_once(shop):
    parts = TableParts.find(shop / "orders").parts
    assert [part.n_rows for part in parts] == [500] * 8
    assert [part.first_row for part in parts] == list(range(0, N_ROWS, 500))
    assert sorted(part.name for part in parts) == [part.name for part in parts]


def test_two_nodes_write_the_scores_of_one_machine(shop, cluster, expected, tmp_path):
    done = []
    scores = score(shop, tmp_path / "out", done.append)
    assert_complete(tmp_path / "out", expected)
    assert sum(done) == N_ROWS
    assert scores.summary.n_outliers == sum(expected.column("is_outlier").to_pylist())
    assert scores.summary.n_rows == N_ROWS
    assert not any(scores.summary.changes["unreadable"].values())


def test_the_folder_is_read_in_place_of_scoring_again(shop, cluster, tmp_path):
    score(shop, tmp_path / "out")
    page, files = tmp_path / "page.html", [shop / "orders.model", shop / "orders"]
    run_well("report", *files, "--scores", tmp_path / "out", "--out", page)
    assert "4,000 rows" in page.read_text(encoding="utf-8")


def test_a_node_that_is_killed_costs_no_row(shop, cluster, expected, tmp_path):
    doomed = cluster.add_node(num_cpus=1)

    def kill(n_rows):
        if n_rows and doomed in cluster.worker_nodes:
            cluster.remove_node(doomed, allow_graceful=False)

    score(shop, tmp_path / "out", kill)
    assert doomed not in cluster.worker_nodes
    assert_complete(tmp_path / "out", expected)


def test_a_part_that_kills_its_worker_is_named_after_a_few_tries(cluster, tmp_path):
    import ray

    tries = tmp_path / "tries"

    def die(part, path):
        with Path(path).open("a") as file:
            file.write("x")
        os.kill(os.getpid(), signal.SIGKILL)

    part = Part(0, "/shop/orders.parquet", (2, 4), 500, 300)
    with pytest.raises(DataError, match=r"rows 500 to 799 .*orders\.parquet") as caught:
        list(ray_engine.map_on_ray(ray, die, [part], str(tries)))
    assert f"ended {ray_engine.MAX_RETRIES + 1} worker processes" in str(caught.value)
    assert tries.read_text() == "x" * (ray_engine.MAX_RETRIES + 1)


def test_a_run_whose_program_was_killed_continues(shop, cluster, expected, tmp_path):
    out = tmp_path / "out"
    driver = f"""
import os
from imboost.tables import files
from imboost.scoring.ray_engine import RayScores
files.PART_ROWS = 500
scores = RayScores({str(shop / "orders.model")!r}, {str(shop / "orders")!r}, {str(out)!r})
scores.run({cluster.address!r}, lambda n: n and os.kill(os.getpid(), {int(signal.SIGKILL)}))
"""
    ended = subprocess.run([sys.executable, "-c", driver], capture_output=True, text=True)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    assert not (out / MANIFEST).exists()
    (out / ".part-00000-000000-000002.parquet.abc").write_bytes(b"a draft of a dead worker")
    scores = score(shop, out)
    assert 0 < scores.n_continued < N_ROWS
    assert_complete(out, expected)


def test_a_finished_run_scores_nothing_again(shop, cluster, expected, tmp_path):
    out = tmp_path / "out"
    score(shop, out)
    before = {path.name: path.stat().st_mtime_ns for path in out.glob("part-*")}
    assert score(shop, out).n_continued == N_ROWS
    assert {path.name: path.stat().st_mtime_ns for path in out.glob("part-*")} == before


def test_a_damaged_part_is_scored_again(shop, cluster, expected, tmp_path):
    out = tmp_path / "out"
    score(shop, out)
    parts = sorted(out.glob("part-*"))
    parts[0].write_bytes(parts[0].read_bytes()[:-1])  # cut
    parts[2].write_bytes(b"")
    metadata = pq.read_metadata(parts[4]).metadata
    short = pq.read_table(parts[4]).slice(0, 499).replace_schema_metadata(metadata)
    pq.write_table(short, parts[4])
    assert score(shop, out).n_continued == N_ROWS - 3 * 500
    assert_complete(out, expected)


def test_a_part_with_rows_of_another_or_a_repeated_row_is_scored_again(
    shop, cluster, expected, tmp_path
):
    out = tmp_path / "out"
    score(shop, out)
    first, second, *_ = sorted(out.glob("part-*"))
    twice = np.minimum(np.arange(500), 498)
    for path, rows in (
        (first, pq.read_table(second)),
        (second, pq.read_table(second).take(twice)),
    ):
        metadata = pq.read_metadata(path).metadata
        pq.write_table(rows.replace_schema_metadata(metadata), path)
    assert score(shop, out).n_continued == N_ROWS - 2 * 500
    assert_complete(out, expected)


def test_a_part_of_several_row_groups_is_complete(shop, monkeypatch, tmp_path):
    monkeypatch.setattr(pipeline, "BATCH_ROWS", 100)
    monkeypatch.setattr(score_files, "GROUP_ROWS", 200)
    data = write(orders(500), tmp_path / "some.parquet")
    scores = RayScores(shop / "orders.model", data, tmp_path / "out")
    scores.folder.prepare()
    [part] = scores.folder.table.parts
    scores.folder.score(scores.detector, part)
    assert pq.read_metadata(tmp_path / "out" / part.name).num_row_groups == 3
    assert list(scores.folder.finished()) == [part.name]


def test_scores_of_another_model_or_table_are_refused(shop, cluster, tmp_path):
    out, other = tmp_path / "out", tmp_path / "other"
    score(shop, out)
    table = orders(N_ROWS)
    persistence.save(TableDetector("trees", random_state=1).fit(table.slice(0, 300)), other)
    with pytest.raises(SettingError, match="another model"):
        RayScores(other, shop / "orders", out).run()
    changed = write(table.slice(0, 1000), tmp_path / "new.parquet")
    with pytest.raises(SettingError, match="another table"):
        RayScores(shop / "orders.model", changed, out).run()


def test_a_folder_with_other_files_is_refused(shop, cluster, tmp_path):
    (tmp_path / "thesis.txt").write_text("precious")
    with pytest.raises(SettingError, match=r"holds 'thesis.txt'"):
        score(shop, tmp_path)


def test_parts_that_others_wrote_and_the_table_itself_are_no_output(shop, cluster, tmp_path):
    (tmp_path / "part-00000-a1b2.snappy.parquet").write_bytes(b"")
    with pytest.raises(SettingError, match="which is no part of scores"):
        score(shop, tmp_path)
    before = sorted((shop / "orders").iterdir())
    with pytest.raises(SettingError, match="is the table"):
        score(shop, shop / "orders")
    assert sorted((shop / "orders").iterdir()) == before


def test_a_table_that_changes_while_it_is_scored_gets_no_manifest(shop, tmp_path):
    data = write(orders(600), tmp_path / "some.parquet")
    scores = RayScores(shop / "orders.model", data, tmp_path / "out")
    scores.folder.prepare()
    for part in scores.folder.table.parts:
        scores.folder.score(scores.detector, part)
    os.utime(data, (0, 0))  # as if another program had written it
    with pytest.raises(DataError, match="has changed while it was scored"):
        scores.folder.finish()
    assert not (tmp_path / "out" / MANIFEST).exists()


def test_an_error_of_a_worker_is_one_line(shop, cluster, tmp_path):
    table = orders(1000)
    data = write(table.drop_columns(["amount"]), tmp_path / "short.parquet")
    model, out = shop / "orders.model", tmp_path / "out"
    assert "amount" in refused("score", model, data, "--out", out, "--engine", "ray")
    assert not (out / MANIFEST).exists()


def test_the_training_rows_are_those_of_one_machine(shop, cluster, monkeypatch):
    monkeypatch.setattr(row_selection, "MAX_ROWS", 300)
    found = draw_sample_on_ray(TableParts.find(shop / "orders"), 7)
    wanted = draw_sample(TableFiles.find(shop / "orders"), 7)
    assert np.array_equal(found.rows, wanted.rows)
    assert found.table.equals(wanted.table)


def test_the_commands_fit_and_score_on_ray(shop, cluster, tmp_path):
    data = write(orders(600, labelled=True), tmp_path / "some.parquet")
    fit = ["fit", data, "--detector", "trees", "--label-column", "is_wrong"]
    run_well(*fit, "--out", tmp_path / "here.model")
    run_well(*fit, "--out", tmp_path / "ray.model", "--engine", "ray")
    one, other = (persistence.load(tmp_path / name) for name in ("here.model", "ray.model"))
    assert np.array_equal(one.decision_scores_, other.decision_scores_)
    output = run_well("score", tmp_path / "ray.model", data, "--engine", "ray").text
    assert "600 rows in" in output
    assert output.endswith("Read 600 rows, wrote 600 scores.")
    table = pa.concat_tables(map(pq.read_table, (tmp_path / "some.scores").glob("part-*")))
    assert np.array_equal(table.column("score").to_numpy(), one.decision_function(data))
    again = run_well("score", tmp_path / "ray.model", data, "--engine", "ray").text
    assert "All parts existed: no row was left to score." in again
    assert "rows per second" not in again


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--engine", "ray", "--reasons", "3"], "--reasons does not apply with --engine ray"),
        (["--engine", "ray", "--header", "no"], "--header does not apply with --engine ray"),
        (["--ray-address", "auto"], "--ray-address needs --engine ray"),
    ],
)
def test_options_that_do_not_fit_are_refused(shop, options, reason):
    assert reason in refused("score", shop / "orders.model", shop / "orders", *options)


@pytest.mark.parametrize("name", ["some.csv", ""])
@pytest.mark.parametrize("command", ["score", "fit"])
def test_other_formats_than_parquet_are_refused(shop, tmp_path, command, name):
    write(orders(30), tmp_path / "some.csv")
    model = [shop / "orders.model"] * (command == "score")
    line = refused(command, *model, tmp_path / name, "--engine", "ray")
    assert "holds CSV; Ray reads Parquet alone" in line


def test_a_url_keeps_its_slashes_and_leads_to_a_file_system(shop):
    folder = shop / "orders"
    assert TableParts.find(f"file://{folder}").n_rows == N_ROWS
    assert TableParts.find(Path(f"file://{folder}")).n_rows == N_ROWS
    with pytest.raises(DataError, match="cannot be reached"):
        TableParts.find("nowhere://orders")


def test_a_missing_package_is_named(shop, monkeypatch, tmp_path):
    monkeypatch.setattr("imboost.errors.find_spec", lambda name: None)
    scores = RayScores(shop / "orders.model", shop / "orders", tmp_path / "out")
    with pytest.raises(MissingPackageError, match=r"imboost\[ray\]"):
        scores.run()
