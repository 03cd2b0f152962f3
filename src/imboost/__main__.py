"""The command line, as ``python -m imboost``."""

from imboost.apps.cli import main

if __name__ == "__main__":
    main()
