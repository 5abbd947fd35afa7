"""Write a campaign for Pearmut: a task for each annotator, with texts that it shows as they are.

Source: Pearmut 1.1.6 (github.com/zouharvi/pearmut), README and ``contentToCharSpans`` of its pages: texts come letter
by letter, but for the tags ``br strong b i p em h1 h2 h3`` without attributes, and texts that begin as a tag of audio,
video, img or iframe, which become markup.
"""

from __future__ import annotations

import html
import itertools
import json
import re
from collections.abc import Mapping, Sequence

from evalkit.campaign.design.drawing import Drawn
from evalkit.campaign.design.items import Named
from evalkit.data.languages import UNKNOWN

#: Stands behind the < of what Pearmut would take for markup: it is not seen, and no tag begins with it.
JOINER = "\u2060"
_MARKUP = re.compile(r"<(?=/?(?:br|strong|b|i|p|em|h1|h2|h3)>)|^<(?=(?:audio|video|img|iframe) )")


def shown(text: str) -> str:
    """Return a text such that Pearmut shows it letter by letter.

    >>> shown("a <b> c") == f"a <{JOINER}b> c", shown("1 < 2, <script>"), shown("x <img src=y>")
    (True, '1 < 2, <script>', 'x <img src=y>')
    """
    return _MARKUP.sub("<" + JOINER, text)


def campaign(
    name: str,
    drawn: Drawn,
    items: Sequence[Sequence[Named]],
    sources: Sequence[str],
    alias: Mapping[str, str],
    pair: tuple[str, str],
) -> str:
    """Return the JSON that ``pearmut add`` takes: names of items and systems tell nothing, and nothing is shuffled.

    Sides and order are drawn already, so Pearmut is told to leave them alone.
    """
    wish = drawn.wish
    told = [html.escape(wish.protocol.question)] + ["-".join(pair)] * (UNKNOWN not in pair)
    info = {
        **wish.protocol.pearmut,
        "assignment": "task-based",
        "shuffle": False,
        "seed": wish.seed,
        "users": list(wish.annotators),
        "instructions": " <br>".join(told),
    }
    data = [
        [
            [_item(one, sources, alias) for one in screen]
            for _, screen in itertools.groupby(mine, key=lambda one: one.screen)
        ]
        for mine in items
    ]
    return json.dumps({"campaign_id": name, "info": info, "data": data}, ensure_ascii=False, indent=1) + "\n"


def _item(one: Named, sources: Sequence[str], alias: Mapping[str, str]) -> dict[str, object]:
    outputs = {alias[system]: shown(text) for system, text in zip(one.item.systems, one.item.texts)}
    return {"item_id": one.name, "src": shown(sources[one.item.segment]), "tgt": outputs}
