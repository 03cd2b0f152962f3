"""Tasks and answers to Label Studio and back."""

import json
import xml.etree.ElementTree as ET

import pytest

from answered_orders import label_orders
from imboost.errors import DataError, StoreError
from imboost.labelling import label_studio
from imboost.labelling.label_studio import CONFIG, export_tasks, import_answers
from imboost.session import Answer
from imboost.session.store import SQLLog


@pytest.fixture
def labelled(tmp_path):
    labelled = label_orders(tmp_path)
    yield labelled
    labelled.session.close()


def task(labelled, row, **annotation):
    """Return a task as Label Studio exports it, with one annotation."""
    [some, *_] = export_tasks(labelled)
    choice = {"from_name": "answer", "type": "choices", "value": {"choices": ["Outlier"]}}
    given = {"id": 7, "result": [choice], "was_cancelled": False, "completed_by": 3, **annotation}
    return {"id": 1, "data": {**some["data"], "imboost_row": row}, "annotations": [given]}


def choose(*choices):
    return [{"from_name": "answer", "type": "choices", "value": {"choices": list(choices)}}]


def import_tasks(labelled, *tasks):
    return import_answers(labelled.session, json.dumps(tasks).encode())


def last(labelled):
    return labelled.session.history[-1]


def test_answered_rows_and_open_questions_are_exported(labelled):
    tasks = list(export_tasks(labelled))
    rows = [one["data"]["imboost_row"] for one in tasks]
    assert rows == sorted({*range(6), *labelled.session.open_questions})
    cells = labelled.session.X.slice(1, 1).to_pylist()[0]
    assert tasks[1]["data"]["cells"]["order_id"] == cells["order_id"]
    assert json.loads(json.dumps(tasks)) == tasks


def test_annotations_say_who_answered_what_and_how_long_it_took(labelled):
    tasks = list(export_tasks(labelled))
    [ada] = tasks[1]["annotations"]
    assert ada["result"][0]["value"] == {"choices": ["outlier"]}
    assert (ada["lead_time"], ada["created_username"]) == (2.5, "Ada")
    assert "completed_by" not in ada  # Label Studio refuses people whom it does not know
    [bo] = tasks[3]["annotations"]
    assert bo["completed_by"] == {"email": "bo@example.org"}
    assert bo["result"][1]["value"] == {"text": ["who knows?"]}
    assert tasks[4]["annotations"][0]["was_cancelled"]


def test_predictions_are_decisions_with_their_probability(labelled):
    for one in export_tasks(labelled):
        row = one["data"]["imboost_row"]
        [prediction] = one["predictions"]
        is_outlier = labelled.snapshot.scores[row] > labelled.snapshot.threshold
        probability = labelled.snapshot.probabilities[row]
        [choice] = prediction["result"][0]["value"]["choices"]
        assert choice == ("outlier" if is_outlier else "inlier")
        assert prediction["score"] == pytest.approx(probability if is_outlier else 1 - probability)
        assert prediction["model_version"] == "round 1"


def test_the_configuration_shows_the_cells_and_names_what_annotations_name(labelled):
    view = ET.fromstring(CONFIG)
    [some, *_] = export_tasks(labelled)
    assert view.find("Table").get("value").removeprefix("$") in some["data"]
    result = some["annotations"][0]["result"][0]
    assert view.find("Choices").get("name") == result["from_name"]
    assert (
        view.find("Choices").get("toName") == result["to_name"] == view.find("Table").get("name")
    )
    choices = [choice.get("value") for choice in view.iter("Choice")]
    assert set(choices) == {answer.value for answer in Answer}


def test_an_export_brings_the_answers_to_another_session(labelled, tmp_path):
    content = json.dumps(list(export_tasks(labelled))).encode()
    (tmp_path / "other").mkdir()
    other = label_orders(tmp_path / "other").session
    for who in ("Ada", "bo@example.org", ""):
        while any(entry.who == who for entry in other.history):
            other.undo(who)
    assert not other.answers
    import_answers(other, content)
    assert other.answers == labelled.session.answers
    notes = {entry.row: (entry.who, entry.seconds, entry.note) for entry in other.history}
    assert notes[3] == ("bo@example.org", None, "who knows?")
    assert notes[1] == ("Ada", 2.5, "")


def test_an_export_changes_nothing_in_its_own_session(labelled):
    content = json.dumps(list(export_tasks(labelled))).encode()
    labelled.session.tell([1], ["inlier"], who="Ada")  # a later correction stays
    before = labelled.session.history
    assert import_answers(labelled.session, content)[0] == 0
    assert labelled.session.history == before


def test_an_answer_that_the_person_has_given_already_is_known(labelled):
    labelled.session.tell([9], ["outlier"], who="Ada")
    known = task(labelled, 9, completed_by="Ada", created_at="2099-01-01T00:00:00Z")
    assert import_tasks(labelled, known) == (0, 1)


def test_a_file_counts_once(labelled):
    one = task(labelled, 50, lead_time=4.2)
    assert import_tasks(labelled, one) == (1, 0)
    assert (last(labelled).row, last(labelled).answer) == (50, Answer.OUTLIER)
    assert (last(labelled).who, last(labelled).seconds) == ("user 3", 4.2)
    labelled.session.tell([50], ["inlier"], who="user 3")
    assert import_tasks(labelled, one) == (0, 1)
    assert labelled.session.answers[50] == Answer.INLIER


def test_an_annotation_that_was_changed_in_label_studio_counts_again(labelled):
    first = task(labelled, 50, updated_at="2024-01-01T10:00:00Z")
    changed = task(labelled, 50, updated_at="2024-01-01T10:05:00Z", result=choose("inlier"))
    assert import_tasks(labelled, first)[0] == 1
    assert import_tasks(labelled, changed)[0] == 1
    assert labelled.session.answers[50] == Answer.INLIER
    assert import_tasks(labelled, first, changed)[0] == 0


@pytest.mark.parametrize(
    ("person", "who"),
    [
        (10, "user 10"),
        ("eva@example.org", "eva@example.org"),
        ({"id": 4, "email": "eva@example.org"}, "eva@example.org"),
        ({"id": 4, "first_name": "Eva", "last_name": "B"}, "Eva B"),
        ({"id": 4}, "user 4"),
        (None, ""),
    ],
)
def test_people_are_ids_addresses_or_objects(labelled, person, who):
    import_tasks(labelled, task(labelled, 60, completed_by=person))
    assert last(labelled).who == who


def test_a_cancelled_annotation_is_a_skip_and_an_empty_one_is_nothing(labelled):
    import_tasks(labelled, task(labelled, 60, result=[], was_cancelled=True))
    assert (last(labelled).row, last(labelled).answer) == (60, Answer.SKIP)
    assert import_tasks(labelled, task(labelled, 61, result=[]))[0] == 0


@pytest.mark.parametrize("choice", ["OUTLIER", " outlier ", "Outlier"])
def test_choices_are_read_in_any_case(labelled, choice):
    import_tasks(labelled, task(labelled, 60, result=choose(choice)))
    assert last(labelled).answer == Answer.OUTLIER


def test_one_wrong_task_keeps_the_whole_file_out(labelled):
    n_before = len(labelled.session.history)
    with pytest.raises(DataError, match=r"^Task 2: a choice must be .*, got 'maybe'\.$"):
        import_tasks(labelled, task(labelled, 60), task(labelled, 61, result=choose("maybe")))
    assert len(labelled.session.history) == n_before


def test_an_import_that_cannot_be_stored_leaves_no_part(labelled, monkeypatch):
    def fail(log, entries):
        raise StoreError("The disk is full.")

    n_before = len(labelled.session.history)
    tasks = task(labelled, 60), task(labelled, 61, completed_by=4)
    with monkeypatch.context() as patch:
        append, n_stored = SQLLog.append, []

        def store_once(log, entries):
            if n_stored:
                fail(log, entries)
            n_stored.append(len(entries))
            append(log, entries)

        patch.setattr(SQLLog, "append", store_once)
        assert import_tasks(labelled, *tasks)[0] == n_stored[0] == 2
        with pytest.raises(StoreError):
            import_tasks(labelled, task(labelled, 62), task(labelled, 63))
    assert len(labelled.session.history) == n_before + 2
    times = [entry.when for entry in labelled.session.history[-2:]]
    assert times == sorted(set(times))


@pytest.mark.parametrize("row", [-1, 120, "1", 1.5, True, None])
def test_unknown_rows_are_refused(labelled, row):
    with pytest.raises(DataError, match=r"Task 1: (Row ids go from 0 to 119|A row id must be)"):
        import_tasks(labelled, task(labelled, row))


def test_tasks_of_another_table_are_refused(labelled):
    one = task(labelled, 60)
    one["data"]["imboost_table"] = "0" * 64
    with pytest.raises(DataError, match=r"Task 1: it belongs to another table\."):
        import_tasks(labelled, one)
    del one["data"]["imboost_table"]
    with pytest.raises(DataError, match="it was not exported by IMBoost"):
        import_tasks(labelled, one)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not JSON"),
        (b"\xff\xfe\x00", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b'{"data": {}}', "not a list of tasks"),
        (b"[1]", "has no 'data'"),
        (b'[{"imboost_row": 1, "answer": "outlier"}]', "not as JSON-MIN"),
    ],
)
def test_malformed_files_are_refused_in_one_line(labelled, content, message):
    with pytest.raises(DataError, match=message) as caught:
        import_answers(labelled.session, content)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "annotation",
    [
        "text",
        {"result": "text"},
        {"result": [{"type": "choices", "value": {"choices": "outlier"}}]},
        {"result": [{"type": "choices", "value": {"choices": ["outlier", "inlier"]}}]},
        {"result": [{"type": "choices", "value": {"choices": [5]}}]},
    ],
)
def test_malformed_annotations_are_refused(labelled, annotation):
    one = task(labelled, 60)
    one["annotations"] = [annotation]
    with pytest.raises(DataError, match="Task 1: "):
        import_tasks(labelled, one)


@pytest.mark.parametrize("lead_time", [-1, "4", 1e300, float("nan"), True, None])
def test_a_strange_time_is_left_out(labelled, lead_time):
    import_tasks(labelled, task(labelled, 60, lead_time=lead_time))
    assert last(labelled).seconds in (None, 1.0)


def test_text_that_no_database_can_store_is_cleaned(labelled):
    note = {"from_name": "note", "type": "textarea", "value": {"text": ["a\0b\ud800"]}}
    one = task(labelled, 60, result=[*choose("inlier"), note], completed_by="x\0" * 200)
    import_tasks(labelled, one)
    assert last(labelled).note == "ab"
    assert last(labelled).who == "x" * 60


def test_a_huge_file_is_refused(labelled, monkeypatch):
    monkeypatch.setattr(label_studio, "MAX_BYTES", 100)
    with pytest.raises(DataError, match="at most 100 can be imported at once"):
        import_tasks(labelled, task(labelled, 60))
