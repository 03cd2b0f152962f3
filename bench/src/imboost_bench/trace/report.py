"""Write the traces of all variants and what they say about the paper's claims as CSV files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path

import pandas as pd

from imboost_bench.trace.finding import Finding
from imboost_bench.trace.phases import AS_THEY_ARE, Reading
from imboost_bench.trace.recording import Trace, Update


def write_traces(
    traces: Mapping[str, Trace], findings: Mapping[str, Sequence[Finding]], folder: Path
) -> list[Path]:
    """Write ``trace_DATASET.csv`` and ``trace_DATASET_claims.csv`` into `folder`; return both.

    `traces` and `findings` are those of the variants, by name. The first file has a line for
    every update, the second one for every claim.
    """
    name = f"trace_{next(iter(traces.values())).spec.dataset.replace('/', '_')}"
    table, claims = folder / f"{name}.csv", folder / f"{name}_claims.csv"
    columns = [*(field.name for field in fields(Update)), "cosine"]
    frames = [
        Reading.of(trace, AS_THEY_ARE).frame[columns].assign(variant=variant)
        for variant, trace in traces.items()
    ]
    pd.concat(frames)[["variant", *columns]].to_csv(table, index=False, float_format="%.9g")
    lines = [
        {"variant": variant, **asdict(finding)}
        for variant, own in findings.items()
        for finding in own
    ]
    pd.DataFrame(lines).to_csv(claims, index=False)
    return [table, claims]
