"""One measurement of the peer (pac-synth), in its own environment: arguments in, one JSON line out.

CPU seconds of the section named, user and system of all threads; imports count in ``whole`` alone.
"""

import sys
import time

_START = time.process_time()

import json  # noqa: E402
import resource  # noqa: E402
from pathlib import Path  # noqa: E402

import pacsynth  # noqa: E402
import pandas as pd  # noqa: E402


def main() -> None:
    section, path, length, records = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    pacsynth.set_number_of_threads(1)
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    raw = [list(frame.columns), *frame.to_numpy().tolist()]
    data = pacsynth.Dataset(raw, sensitive_zeros=list(frame.columns))
    result: dict[str, object] = {}
    if section == "count":
        begun = time.process_time()
        found = data.get_aggregates(length, ";")
        result["cpu_s"] = time.process_time() - begun
        result["combinations"] = len(found)
    else:
        builder = pacsynth.DpAggregateSeededParametersBuilder().epsilon(4.0).reporting_length(length)
        synthesizer = pacsynth.DpAggregateSeededSynthesizer(builder.build())
        begun = time.process_time()
        synthesizer.fit(data)
        result["cpu_s"] = time.process_time() - begun
    if section in ("sample", "whole"):
        begun = time.process_time()
        rows = synthesizer.sample(records) if records else synthesizer.sample()
        result["sample_cpu_s"] = time.process_time() - begun
        result["records"] = len(rows) - 1
    if section == "whole":
        pd.DataFrame(rows[1:], columns=rows[0]).to_csv(path + ".peer", sep="\t", index=False)
        result["cpu_s"] = time.process_time() - _START
    if section in ("fit", "sample"):
        aggregates = synthesizer.get_dp_aggregates(";")
        lengths = [text.count(";") for text in aggregates if text]
        result["survivors"] = [lengths.count(place) for place in range(length)]
        if section == "sample":
            body = {"aggregates": aggregates, "records": synthesizer.get_dp_number_of_records(), "rows": rows}
            Path(path + ".aggregates.json").write_text(json.dumps(body))
    result["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(json.dumps(result))


main()
