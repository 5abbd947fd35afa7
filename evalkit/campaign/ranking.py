"""Which system is better, and how sure that is: by each criterion, by scores treated otherwise, by comparisons."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.campaign import strengths
from evalkit.campaign.findings import WORDING, Finding, Missing, Result, finding, or_missing, which, words
from evalkit.campaign.method import OWN_LINES, Method, choose_method
from evalkit.campaign.opening import Campaign, from_ratings, of_criterion
from evalkit.campaign.strengths import KINDS
from evalkit.human import normalization, preferences
from evalkit.human.ranking import lines as engine
from evalkit.human.ranking import rules
from evalkit.human.ranking.scores import SegmentMeans
from evalkit.stats import inference
from evalkit.stats.correlation import kendall_b
from evalkit.stats.terms import join_names, pluralize

_INTERVALS = ["low", "high", "rank_low", "rank_high", "best"]


#: Most systems in a picture; the rest is in the tables.
MOST_DRAWN = 30


class Ranking(Result):
    """The pair's systems, best first, and how sure their order is.

    scale: ends of the scale of mean scores. method: how systems are compared. table: all that is known of each system,
    as ``lines.significance_clusters`` and ``lines.rank_ranges`` return it, and ``mean`` of raw scores. pairwise:
    tests of every two systems (see ``lines.pairwise_tests``); no rows for a single system. humans: the same of
    people's translations, without places; duels: tests of each of them with each system. points: how many points of
    the scale are one unit of what is compared: 1, or the annotators' pooled standard deviation for z-scores.
    resamples: draws behind the intervals. unsure: why there are no intervals. refused: why the rule for lines that was
    asked for cannot be applied, so that ours is. standing: the strengths, where comparisons were judged; ``score`` is
    then the share of comparisons that a system would win against all others.
    """

    unsure = ""
    refused = ""
    standing = None

    def tell(self) -> Iterator[Finding]:
        """Say what systems are ranked by, how they are tested, and how sure the first place is."""
        yield from which("order", self, by=True, calibration=self.method.item_types[0] == "calibration")
        if len(self.names) == 1:
            yield finding("order.alone")
            yield finding("lacks.missing", reason=words("collect.ranking"), collect=None)
            return
        yield from which("order", self, unit=True, tests=True)
        yield from self._lines()
        yield from which("order", self, draws=not self.unsure, humans=not self.unsure and len(self.humans))
        if self.unsure:
            yield finding("lacks.missing", reason=self.unsure, collect=None)

    def _lines(self) -> Iterator[Finding]:
        """Say which rule draws the lines between clusters, where it is another than ours or cannot be applied."""
        if self.refused:
            yield finding("lines.refused", found=self)
        elif self.method.lines != OWN_LINES:
            rule, ours = rules.named(self.method.lines), self.method.scores_name
            own = "z-scores" if rule.by == "z" else "raw scores"
            values = {"test": rules.TESTS[rule.test], "line": rules.LINES[rule.line], "ours": ours, "own": own}
            yield finding("lines.rule", rule=rule, other=ours != own, domains=rule.mean == "domains", **values)

    @property
    def systems(self) -> pd.DataFrame:
        """One row per system, and per human translation: rank, cluster, mean, z or adjusted (if compared), intervals.

        Of comparisons, mean is the share that was won, expected the one that strengths let expect against all others.
        low, high: interval of what is compared. rank_low, rank_high: of the place. best: share of draws as the first.
        wins, losses: against other systems. kind: only where there are people's translations, which have no place.
        """
        named = {"score": "expected" if self.method.compares else "z" if self.method.by_z else "adjusted"}
        compared = ["score"] if self.method.column != "score" or self.method.compares else []
        intervals, places = ([], []) if self.unsure else (_INTERVALS, ["rank_low", "rank_high"])
        columns = ["system", *["kind"] * bool(len(self.humans)), "rank", "cluster", "mean", *compared, *intervals]
        both = pd.concat([self.table.assign(kind="system"), self.humans.assign(kind="human translation")])
        both = both.sort_values("score", ascending=False, kind="stable", ignore_index=True)
        whole = both.astype(dict.fromkeys(["rank", "cluster", "wins", "losses", *places], "Int64"))
        return whole[[*columns, "wins", "losses", "segments"]].rename(columns=named)

    @property
    def names(self) -> list[str]:
        """The systems, best first; people's translations are none."""
        return self.table["system"].tolist()

    @property
    def means(self) -> dict[str, float]:
        """Each system's mean of raw scores."""
        return dict(zip(self.names, self.table["mean"].astype(float), strict=True))

    @property
    def top(self) -> str:
        """The first system."""
        return self.names[0]

    @property
    def first(self) -> list[str]:
        """The systems with the highest score: several where they are equal."""
        scores = self.table["score"].to_numpy(float)
        return self.table.loc[np.isclose(scores, scores[0], rtol=0, atol=1e-9), "system"].tolist()

    @property
    def beaten(self) -> list[str]:
        """The systems that the first one is significantly better than."""
        if self.pairwise.empty:
            return []
        return self.pairwise.loc[self.pairwise["better"].eq(self.top) & self.pairwise["significant"], "worse"].tolist()

    @property
    def level(self) -> list[str]:
        """The other systems, which cannot be distinguished from the first."""
        return [name for name in self.names[1:] if name not in self.beaten]

    @property
    def best(self) -> float | None:
        """The share of draws in which the first system comes first; None without draws."""
        return None if self.unsure else float(self.table["best"].iloc[0])

    @property
    def standings(self) -> pd.DataFrame:
        """Systems and people's translations by score, for a picture: system, score, low, high, stands (how, in words).

        Far systems would squeeze all others together: they have their score in their name, and nothing to be drawn.
        """
        says = WORDING["stands"]
        label = says["only" if len(self.names) == 1 else "level" if self.level else "better"]
        stands = self.table["system"].isin([self.top, *self.level]).map({True: label, False: says["worse"]})
        both = pd.concat([self.table.assign(stands=stands), self.humans.assign(stands=says["human"])])
        both = both.sort_values("score", ascending=False, kind="stable").head(MOST_DRAWN).reset_index(drop=True)
        shown = both.reindex(columns=["system", "score", *([] if self.unsure else ["low", "high"]), "stands"])
        shown = shown.reindex(columns=["system", "score", "low", "high", "stands"])
        far = ~_near(shown["score"].to_numpy(float)) & (not self.method.compares)
        shown.loc[far, "system"] += shown.loc[far, "score"].map(" ({:.2f}, far below)".format).astype("str")
        shown.loc[far, ["score", "low", "high"]] = np.nan
        return shown

    @property
    def in_short(self) -> str:
        """Who is ahead, in the ten words that a picture's title has room for."""
        return words(f"short.{'only' if len(self.names) == 1 else 'level' if self.level else 'ahead'}", found=self)

    @property
    def unit_in_words(self) -> str:
        """What the scores are, with their unit."""
        return words(f"units.{'wins' if self.method.compares else self.method.score}")

    def gap(self, one: str, other: str) -> float:
        """Return how far one system is ahead of another by what is compared, in points of the scale."""
        scores = self.table.set_index("system")["score"]
        return float(scores[one] - scores[other]) * self.points


def _near(scores: np.ndarray) -> np.ndarray:
    """Tell which scores can share an axis: not those below a gap that is twice the range of all above it.

    scores: the highest first. At most a quarter of them is left out.

    >>> _near(np.array([5.0, 4.5, 4.0, 3.5, -20.0])).tolist()
    [True, True, True, True, False]
    """
    gaps, above = scores[:-1] - scores[1:], scores[0] - scores[:-1]
    far = np.flatnonzero((gaps > 2 * above) & (above > 0)) + 1
    far = far[far >= max(2, np.ceil(0.75 * len(scores)) - 1)]
    return np.arange(len(scores)) < (far.max() if len(far) else len(scores))


@or_missing("ranking")
def rank_systems(
    campaign: Campaign,
    *,
    score: str = "auto",
    unit: str = "auto",
    lines: str = OWN_LINES,
    resamples: int = 1000,
    seed: int = 7,
) -> Ranking:
    """Rank the pair's systems, part them into clusters by pairwise tests, and say how sure each place is.

    score, unit, lines: what to rank by, what to draw anew, and which rule draws lines (see ``choose_method``); where it
    cannot be applied, ours does. resamples, seed: random draws behind the places. Missing where annotators and systems
    cannot be told apart.
    """
    if campaign.judged.empty:
        raise DataError(f"No outputs of systems were judged in {campaign.pair}.")
    method = choose_method(campaign, score=score, unit=unit, lines=lines)
    if campaign.compares:
        return _by_strengths(campaign, method, as_told=unit != "auto", resamples=resamples, seed=seed)
    if method.barred and len(campaign.systems) > 1:
        raise DataError(method.barred)
    whole, refused, unsure = method.table(campaign), "", ""
    systems = whole.taken(np.flatnonzero(~np.isin(whole.systems, campaign.humans)))
    try:
        table = method.clusters(campaign, systems)
    except DataError as problem:
        if lines == OWN_LINES:
            raise
        method, refused = method.but(lines=OWN_LINES), str(problem)
        table = method.clusters(campaign, systems)
    scores = method.scores(campaign.compared)[["system", "score", "segments", "judgements"]]
    raw = method.but(column="score").scores(campaign.compared).set_index("system")["score"]
    table, scores = (one.assign(mean=one["system"].map(raw)) for one in (table, scores))
    humans = scores[scores["system"].isin(campaign.humans)].sort_values("score", ascending=False, ignore_index=True)
    try:
        places = engine.places(whole, unit=method.drawn, resamples=resamples, seed=seed)
        own = engine.places(systems, unit=method.drawn, resamples=resamples, seed=seed) if len(humans) else places
    except DataError as problem:
        unsure = f"{problem} Judge every system on the same 20 segments or more."
    else:
        table = table.merge(own[["system", *_INTERVALS]], on="system")
        humans = humans.merge(places[["system", "low", "high"]], on="system")
    pairwise = method.pairwise(campaign, systems) if len(table) > 1 else pd.DataFrame()
    duels = _duels(campaign, method, whole) if len(humans) else pd.DataFrame()
    points = _pooled(campaign) if method.by_z else 1.0
    tables = {"table": table, "pairwise": pairwise, "humans": humans, "duels": duels}
    about = {"pair": campaign.pair, "scale": campaign.scale, "method": method, "points": points, "resamples": resamples}
    return Ranking(**about, **tables, unsure=unsure, refused=refused)


def _by_strengths(campaign: Campaign, chosen: Method, *, as_told: bool, resamples: int, seed: int) -> Ranking:
    """Rank systems that were compared with each other; where units are few, less is drawn: texts alone, or segments."""
    texts = ("doc",) if "doc" in chosen.unit or chosen.segment == ("doc", "segment") else ("segment",)
    why = words("over.empty", drawn=chosen.drawn)
    fewer = [chosen.but(unit=unit, why_unit=why) for unit in (texts, ("segment",)) if unit != chosen.unit]
    methods = [chosen] if as_told else [one for one in (chosen, *fewer) if strengths.enough(campaign, one)]
    method = (methods or [chosen])[0].but(lines=OWN_LINES)
    found = strengths.rank(campaign, method, resamples=resamples, seed=seed)
    sure = methods and found["standing"].fewest > 1 and len(strengths.finite(found["standing"]))
    found["unsure"] = "" if sure else words("order.few_units", fewest=strengths.FEWEST)
    found["refused"] = words("lines.scores", rule=chosen.lines) if chosen.lines != OWN_LINES else ""
    return Ranking(pair=campaign.pair, scale=campaign.scale, method=method, points=1.0, resamples=resamples, **found)


def _duels(campaign: Campaign, method: Method, whole: SegmentMeans) -> pd.DataFrame:
    """Test people's translations against each system; p-values are adjusted among these (Holm)."""
    every = method.pairwise(campaign, whole)
    mixed = every[every["better"].isin(campaign.humans) != every["worse"].isin(campaign.humans)]
    adjusted = inference.adjust(mixed["p"], method="holm")
    sure = (adjusted < method.alpha) & (mixed["difference"] > 0)
    return mixed.assign(adjusted_p=adjusted, significant=sure).reset_index(drop=True)


def _pooled(campaign: Campaign) -> float:
    """Pool the annotators' standard deviations: how many points a z-score of 1 is on average."""
    people = campaign.part.groupby("annotator")["score"].agg(["var", "size"]).dropna()
    return float(np.sqrt((people["var"] * (people["size"] - 1)).sum() / max((people["size"] - 1).sum(), 1)))


def rank_pairs(campaign: Campaign, **options: Any) -> pd.DataFrame:
    """Name the best system of every language pair, and those that cannot be distinguished from it.

    Returns pair, systems, judgements; and, where a pair has several systems, ranked_by, drawn, first, clusters and
    not_told_apart (names, or "none"); and human, where people's translations were judged, too: how the first system
    stands to them. options: as of ``rank_systems``.
    """
    rows = []
    for pair in campaign.pairs:
        here = from_ratings(campaign.ratings[campaign.ratings["pair"] == pair])
        row: dict[str, object] = {"pair": pair, "systems": len(here.systems), "judgements": len(here.judged)}
        if len(here.systems) > 1:
            found = rank_systems(here, **options, resamples=100)
            if isinstance(found, Missing):
                apart = "some systems were never compared, even through others"
                row["ranked_by"] = f"nothing: {apart if here.compares else found.reason.partition('. ')[0]}"
            else:
                row |= {"ranked_by": found.method.title, "drawn": found.method.drawn, "first": found.top}
                row["clusters"] = int(found.table["cluster"].max())
                row["not_told_apart"] = join_names(found.level) or "none"
                if len(found.humans):
                    beside = [beside_human(found.top, name, found.duels) for name in found.humans["system"]]
                    row["human"] = "; ".join(beside)
        rows.append(row)
    return pd.DataFrame(rows)


def beside_human(system: str, human: str, duels: pd.DataFrame) -> str:
    """Say how a system stands to a human translation: worse than, better than, or not distinguished from it."""
    for how, better, worse in (("worse than", human, system), ("better than", system, human)):
        if duels.loc[duels["better"].eq(better) & duels["worse"].eq(worse), "significant"].any():
            return f"{how} {human}"
    return f"not distinguished from {human}"


class Comparisons(Result):
    """A pair's comparisons under one scale of strengths, or several where systems were never compared.

    answers: the comparisons. table: group (where there are several), system, strength, low, high (95 %), won (share of
    comparisons won, ties half), average (the same, averaged over opponents) and n. groups: systems that were compared,
    perhaps through others. fit, circles, residuals: of the largest group. apart: systems of it that others never beat
    or tied with, and these others; empty where strengths are finite. place: what standing first adds to the log odds,
    with its interval, or None.
    """

    def tell(self) -> Iterator[Finding]:
        """Say who met whom, what standing first adds, and whether one scale of strengths fits."""
        systems = sum(map(len, self.groups))
        never = systems * (systems - 1) // 2 - len(self.met)
        yield finding("strengths.met", found=self, systems=systems, never=never, follows=len(self.groups) < 2)
        yield from which("strengths", self, groups=len(self.groups) > 1)
        if self.apart:
            yield finding("strengths.apart", above=self.apart[0], below=self.apart[1])
        if self.place:
            gain, low, high = self.place
            does = "favours" if low > 0 else "harms" if high < 0 else "open"
            yield finding("place.effect", does=does, share=1 / (1 + math.exp(-gain)), place=self.place)
        else:
            yield finding("lacks.follows" if self.answers["first"].ne("unknown").any() else "lacks.place")
        fit, odd = self.fit.strengths, self.residuals[self.residuals["residual"].abs() >= ODD]
        key = "untold" if not fit.freedom else "good" if fit.p >= 0.05 else "bad"
        yield finding(f"fit.{key}", fit=fit, odd=odd, row=None if odd.empty else odd.iloc[0])
        if self.circles.triples:
            names = ", ".join(" – ".join(three) for three in self.circles.found[:2])
            yield finding("circles.some" if self.circles.found else "circles.none", own=self.circles, names=names)

    @property
    def met(self) -> set[frozenset[str]]:
        """The pairs of systems that were compared with each other."""
        return {*self.answers[["system_a", "system_b"]].drop_duplicates().apply(frozenset, axis=1)}

    @property
    def ties(self) -> float:
        """The share of ties."""
        return float(self.answers["preference"].eq("tie").mean())


def find_comparisons(
    campaign: Campaign, ranking: Ranking | Missing, *, resamples: int = 500, seed: int = 7
) -> Comparisons | Missing:
    """Look at the pair's comparisons; Missing where scores, not comparisons, were collected."""
    if not campaign.compares:
        return Missing("", "")
    answers, whole = campaign.comparisons, ranking.standing if ranking else None
    units = [KINDS[name] for name in (ranking.method if ranking else choose_method(campaign)).redrawn]
    groups = sorted(preferences.groups(preferences.count(answers)), key=len, reverse=True)
    parts, fits, tables = [answers[answers["system_a"].isin(group)] for group in groups], [], []
    drawn: dict[str, Any] = {"units": units, "resamples": resamples, "seed": seed}
    for number, part in enumerate(parts[:1] if whole else parts, 1):
        fits.append(whole or preferences.standing(part, place=None, **drawn))
        table = fits[-1].table[["system", "strength", "low", "high"]].assign(group=number)
        tables.append(table.merge(preferences.win_rates(part), on="system", validate="one_to_one"))
    fitted, table = fits[0].fitted, pd.concat(tables, ignore_index=True)
    columns = [*["group"] * (len(groups) > 1), *table.columns.drop("group")]
    apart = preferences.separated(fitted.cells)
    found = Comparisons(pair=campaign.pair, answers=answers, table=table[columns], groups=groups, place=fits[0].place)
    found.fit = preferences.goodness(fitted, units=preferences.labels(answers if whole else parts[0], units))
    found.circles = preferences.circles(fitted, draws=resamples, seed=seed)
    found.residuals = preferences.residuals(fitted)
    found.apart = apart if len(apart) > 1 else []
    return found


#: From this standardised residual on, a pair is named that answers otherwise than strengths expect.
ODD = 3.0


class Criteria(Result):
    """What each criterion says of the pair's systems.

    rankings: by criterion, in the order of the file. table: criterion, judgements, first, systems, clusters, and
    same_order: Kendall's τ-b between its mean scores and those of the criterion in detail, over systems (missing for
    fewer than two).
    """

    def tell(self) -> Iterator[Finding]:
        """Say which criteria order the systems otherwise."""
        if self.table["same_order"].notna().any():
            other = self.table.loc[self.table["same_order"] < 1, "criterion"]
            yield finding("criteria.other" if len(other) else "criteria.same", other=other)


def rank_criteria(campaign: Campaign, **options: Any) -> Criteria | Missing:
    """Rank the systems by each criterion; options as of ``rank_systems``."""
    if len(campaign.criteria) < 2:
        return Missing("one criterion was judged.", words("collect.criteria"))
    each = {name: of_criterion(campaign, name) for name in campaign.criteria}
    rankings = {name: rank_systems(one, **options) for name, one in each.items()}
    reference = rankings[campaign.criterion]
    rows = []
    for name, found in rankings.items():
        row: dict[str, object] = {"criterion": name, "judgements": len(each[name].judged)}
        if found:
            row |= {"first": found.top, "systems": len(found.names), "clusters": int(found.table["cluster"].max())}
        if found and reference:
            shared = [one for one in found.names if one in reference.means]
            ours, theirs = ([one.means[system] for system in shared] for one in (found, reference))
            row["same_order"] = float(kendall_b(ours, theirs)) if len(shared) > 1 else np.nan
        rows.append(row)
    return Criteria(pair=campaign.pair, rankings=rankings, table=pd.DataFrame(rows))


#: Ways to treat scores: name for people -> options of ``normalization.normalize``. The first is the yardstick.
WAYS: dict[str, dict[str, Any]] = {
    "raw scores": {"method": "none"},
    "z per annotator": {"method": "z", "no_spread": "zero"},
    "median and IQR": {"method": "robust", "no_spread": "zero"},
    "ranks": {"method": "rank", "no_spread": "zero"},
    "z from calibration items": {"method": "z_calibration", "no_spread": "zero"},
}
ADJUSTED = "strictness taken out"
#: What is told of each ranking beside the first.
_SHIFTS = ["variant", "systems", "tau_b", "tau_b_low", "tau_b_high", "moved", "beyond_noise", "clusters", "noise_share"]


class Normalization(Result):
    """Rankings of the same judgements, treated in several ways.

    ranks: systems × ways. tops: way -> the systems that come first. shifts: how far each ranking is from that by raw
    scores (see ``lines.rank_shifts``); rankings: all places with intervals (see ``lines.rankings``); both without
    rows where too few segments can be drawn, and ``problem`` says so.
    """

    rankings, problem = pd.DataFrame(), ""

    def tell(self) -> Iterator[Finding]:
        """Say which systems come first by each treatment, and how many places move beyond chance."""
        tops = list(self.tops.values())
        each = [finding("ways.first", first=top, way=way) for way, top in self.tops.items()]
        same = all(set(top) == set(tops[0]) for top in tops)
        yield finding("ways.same" if same else "ways.turned", found=self, first=tops[0], firsts=each)
        if self.problem:
            yield finding("ways.unsure", found=self)
        else:
            places, beyond = int(self.shifts["moved"].sum()), int(self.shifts["beyond_noise"].sum())
            yield finding("ways.moved" if places else "ways.still", found=self, places=places, beyond=beyond)


@or_missing("normalising", of_people=True)
def normalize_scores(
    campaign: Campaign, *, unit: str = "auto", resamples: int = 200, seed: int = 7
) -> Normalization | Missing:
    """Rank the systems by raw scores and after each normalisation, and say which moves are more than chance.

    unit: what is drawn anew (see ``choose_method``).
    """
    if campaign.compares:
        return Missing(words("lacks.level"), "")
    part, people = campaign.part, campaign.judged["annotator"].nunique()
    if len(campaign.systems) < 2 or people < 2:
        have = f"{pluralize(len(campaign.systems), 'system')} judged by {pluralize(people, 'annotator')}"
        raise DataError(f"there {'is' if len(campaign.systems) == 1 else 'are'} {have}.")
    known = part[part["item_type"].eq("calibration")].groupby("annotator")["score"].nunique()
    calibrated = len(known) == part["annotator"].nunique() and (known > 1).all()
    ways = {name: how for name, how in WAYS.items() if calibrated or how["method"] != "z_calibration"}
    own = part.index.isin(campaign.judged.index)
    made = {name: normalization.normalize(part, **how)[own] for name, how in ways.items()}
    method = choose_method(campaign, unit=unit)
    if method.barred:
        raise DataError(method.barred)
    method = method.but(column="normalized")
    if campaign.strict:
        raw = made["raw scores"]
        made = {"raw scores": raw, ADJUSTED: raw.assign(normalized=raw["adjusted"])} | made
    ranks = {name: method.scores(table).set_index("system")["rank"] for name, table in made.items()}
    wide = pd.DataFrame(ranks).rename_axis("system").sort_index()
    tops = {name: sorted(rank.index[rank == 1]) for name, rank in ranks.items()}
    order = [ADJUSTED if ADJUSTED in wide else "raw scores"]
    found = Normalization(pair=campaign.pair, ranks=wide.sort_values(order, kind="stable").reset_index(), tops=tops)
    shifts = pd.DataFrame()
    try:
        shifts, found.rankings = method.shifts(made, resamples=resamples, seed=seed)
    except DataError as refused:  # too few segments to resample: the ranks above stand
        found.problem = str(refused)
    found.shifts = shifts.reindex(columns=_SHIFTS)
    return found
