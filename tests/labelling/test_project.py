"""What the page says about a table before the first question."""

import pyarrow as pa

from imboost.labelling.project import TableSetup


def findings(**columns):
    setup = TableSetup(pa.table(columns))
    setup.set_roles({"key": "identifier"})
    return setup.view()["findings"]


def test_repeated_rows_and_identifiers_are_counted_as_rows():
    key = [*range(40), 7, 7, 7]  # one value in four rows
    amount = [float(value) ** 2 for value in [*range(40), 7, 100, 101]]
    found = findings(key=key, amount=amount)
    assert "1 row repeats an earlier row in every column." in found
    assert "3 rows repeat an earlier value of key." in found


def test_a_table_without_repeated_rows_has_no_findings():
    assert findings(key=list(range(40)), amount=[float(n * n) for n in range(40)]) == []
