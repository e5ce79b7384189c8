"""Write `review.schema.json` in this folder from the models of a review record. Run it after changing them:

.venv/bin/python -m docs.make_review_schema
"""

from __future__ import annotations

import json
from pathlib import Path

from ctxview.review.record import PREDICATE, ReviewStatement

FILE = Path(__file__).with_name("review.schema.json")


def text() -> str:
    schema = ReviewStatement.model_json_schema(by_alias=True)
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": PREDICATE}
    return f"{json.dumps(head | schema, indent=2)}\n"


if __name__ == "__main__":
    FILE.write_text(text(), "utf-8")
