"""The research behind imboost: the paper's experiment, other detectors, speed."""
