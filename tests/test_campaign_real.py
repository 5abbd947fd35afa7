"""First pages of real campaigns, by z or raw, against computations that share no code with the package: pandas."""

import pytest
from statsmodels.stats.multitest import multipletests

from evalkit import campaign, data
from evalkit.campaign.ranking import beside_human
from evalkit.data import importing
from tests import widths_by_hand as widths

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("own_salt")]
WEIGHTS = "minor=1,major=5,critical=25,linguistic conventions/punctuation:*=0.1"  # the campaign's own
RUCTION = "wmt-conference/ErrorSpanAnnotation/*/data/campaign-ruction-rc5"
SIDES = "google/wmt-mqm-human-evaluation/*/generalMT2023/ende/sxs_mqm_generalMT2023_ende.3ratingsPerSegment.tsv.tar.gz"
#: One of each kind; the freeze has the numbers of others, too. Campaign -> language pair in detail, people's translations, whether z-scores rank, what names a segment.
CAMPAIGNS = {
    "wmt21-mturk": ("deu-eng", ["HUMAN.0"], True, ["segment"]),
    "wmt22-mturk": ("zho-eng", ["HUMAN-B.12"], True, ["segment"]),
    "wmt24-esa": ("eng-jpn", ["refA"], True, ["doc", "segment"]),
    "MQM-1": ("eng-deu", ["refA"], True, ["doc", "segment"]),
    "side by side": ("eng-deu", ["refA"], False, ["doc", "segment"]),
}


@pytest.fixture
def judgements(real, mirrored, tmp_path):
    """Read a campaign: a registered one, or an export imported here."""

    def read(name):
        if name not in ("MQM-1", "side by side"):
            return real(name)
        out, options, path = tmp_path / "c.parquet", {}, mirrored(SIDES)
        if name == "MQM-1":
            path = mirrored(f"{RUCTION}/240315rc5MQM.scores.csv")
            options = {"batches": path.parent / "data/batches_wmt23_en-de_mqm.json", "weights": WEIGHTS}
        importing.import_campaign([path], out, keep_names=True, **options)
        return data.open_campaign(out)[0]

    return read


def plainly(ratings, pair, humans, by_z, segment):
    """Rank systems by hand: means of segments' means, and who is worse than the first by people's differences."""
    part = ratings[(ratings["src_lang"].astype(str) + "-" + ratings["tgt_lang"].astype(str)) == pair].copy()
    for name in ("system", "annotator", *segment):
        part[name] = part[name].astype(str)
    spread = part.groupby("annotator")["score"].transform("std")
    z = (part["score"] - part.groupby("annotator")["score"].transform("mean")) / spread
    part["value"] = z.where(spread > 0, 0.0) if by_z else part["score"]
    named = part.loc[part["item_type"] == "system", "system"].unique()
    own = part["item_type"].isin(["system", "repeat"]) & part["system"].isin(named)
    part = part[own | (part["item_type"].eq("reference") & part["system"].isin(set(humans) - set(named)))]
    cell = ["system", *segment]
    part["share"] = 1 / part.groupby(cell)["value"].transform("size")
    means = part.groupby(cell)[["score", "value"]].mean().groupby("system").mean()
    part["residual"] = (part["value"] - part["system"].map(means["value"])) * part["share"]
    work = part.groupby(["annotator", "system"])["share"].sum().unstack(fill_value=0)
    influence = part.groupby(["annotator", "system"])["residual"].sum().unstack(fill_value=0) / work.sum()

    def p(a, b):
        return widths.higher(means["value"][a] - means["value"][b], influence[a] - influence[b], work[[a, b]])

    return means.sort_values("value", ascending=False), p


@pytest.mark.parametrize("name", CAMPAIGNS)
def test_the_first_page_says_what_plain_computation_finds(judgements, name):
    pair, humans, by_z, segment = CAMPAIGNS[name]
    ratings = judgements(name)
    means, p = plainly(ratings, pair, humans, by_z, segment)
    mine = campaign.from_ratings(ratings, pair=pair)
    ranked = campaign.rank_systems(mine, score="z" if by_z else "raw", unit="annotators", resamples=100)
    assert list(mine.humans) == humans
    assert ranked.method.by_z == by_z
    assert ranked.method.unit == ("annotator",)
    systems = [system for system in means.index if system not in humans]
    assert ranked.names == systems
    assert [ranked.means[system] for system in systems] == pytest.approx(means.loc[systems, "score"].tolist())
    assert ranked.table["score"].tolist() == pytest.approx(means.loc[systems, "value"].tolist())
    pairs = [(a, b) for place, a in enumerate(systems) for b in systems[place + 1 :]]
    worse = dict(zip(pairs, multipletests([p(*two) for two in pairs], alpha=0.05, method="holm")[0], strict=True))
    beaten = [other for other in systems[1:] if worse[systems[0], other]]
    assert ranked.beaten == beaten
    two_kinds = [(a, b) for place, a in enumerate(means.index) for b in means.index[place + 1 :]]
    mixed = [(a, b) for a, b in two_kinds if (a in humans) != (b in humans)]
    if mixed:
        sure = dict(zip(mixed, multipletests([p(*two) for two in mixed], alpha=0.05, method="holm")[0], strict=True))
        for human in humans:
            losers = {two[1] for two, is_so in sure.items() if is_so and two[0] == human}
            winners = {two[0] for two, is_so in sure.items() if is_so and two[1] == human}
            said = {system: beside_human(system, human, ranked.duels) for system in systems}
            assert {system for system, how in said.items() if how.startswith("worse")} == losers
            assert {system for system, how in said.items() if how.startswith("better")} == winners
