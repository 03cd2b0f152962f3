"""Lines of a result file with chosen metrics."""

from imboost_bench.run.protocol import RoundResult


def run_lines(
    dataset,
    seed,
    *aucs,
    method="imboost/mm",
    group=None,
    rounds=5,
    budget="paper",
    oracle_noise=0.0,
    settings="",
    **others,
):
    """Return the lines of a run with these test AUCs, the last one after the last round."""
    detector, query = method.split("/")
    run = (detector, query, dataset, seed, rounds, budget, oracle_noise, settings)
    first = rounds - len(aucs) + 1
    lines = []
    for number, auc in enumerate(aucs, start=first):
        figures = {"test_ap": auc / 2, "train_auc": auc, "train_ap": auc / 2, "seconds": 1.0}
        known = {"test_auc": auc, "device": "cpu", "version": "1.0", **figures, **others}
        lines.append(RoundResult(*run, group=group or dataset, round=number, **known))
    return lines


def failed_line(dataset, seed, status, reason, *, method="imboost/mm"):
    """Return the one line of a run without a result."""
    detector, query = method.split("/")
    outcome = {"round": -1, "status": status, "reason": reason}
    return RoundResult(detector, query, dataset, seed, group=dataset, **outcome)
