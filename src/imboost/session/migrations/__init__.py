"""Migrations of the session store, run by alembic when a store is opened.

Each file in `versions` changes the tables from one version to the next. They stay as they are:
stores of every earlier version exist. A new store gets the tables of `database.py` at once.
"""
