"""The command line, as ``python -m imboost``."""

from imboost.cli.main import main

if __name__ == "__main__":
    main()
