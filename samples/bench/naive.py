"""The script that somebody writes in the middle of an incident: a dict of the events seen for each id.

    python3 naive.py CLIENT SERVER

It prints {"summary": {leaf: calls}}, as the other two programs of the bench do.
"""

import collections
import json
import sys


def leaf(seen):
    if ("server", "request") not in seen:
        return "never_arrived"
    if ("server", "answer") not in seen:
        return "never_written"
    if ("client", "answer") not in seen:
        return "written_not_read"
    return "agent_level"


def main(paths):
    calls = collections.defaultdict(dict)
    for path in paths:
        with open(path, "rb") as lines:
            for line in lines:
                record = json.loads(line)
                kind = record["kind"]
                if kind == "notification":
                    continue
                if kind in ("response", "error"):
                    kind = "answer"
                calls[record["session"], str(record["id"])][record["side"], kind] = record["mono_ns"]
    counts = collections.Counter(leaf(seen) for seen in calls.values())
    print(json.dumps({"summary": counts}))


main(sys.argv[1:])
