# SPDX-License-Identifier: Apache-2.0
"""The statistics of a comparison of two sides: error rates, signs, what is not compared."""

import math

import numpy as np
import pandas as pd
import pytest

from bandgate_reports.analysis import ab_numbers
from bandgate_reports.analysis.ab_sides import model_key

PERCENT = 0.01


def simulated(
    simulations: int,
    *,
    loss: float = 0.0,
    sd: float = 0.004,
    k: int = 10,
    probes: int = 1,
    cards: int = 1,
    tails: str = "normal",
    seed: int = 5,
) -> pd.DataFrame:
    """One family a simulation; every probe loses `loss`, between processes there is `sd`."""
    rng = np.random.default_rng(seed)
    shape = (simulations, probes, cards, 2, k)
    noise = rng.standard_t(3, shape) / math.sqrt(3) if tails == "t3" else rng.normal(size=shape)
    log = 29.0 + sd * noise
    log[..., 1, :] += math.log1p(-loss)
    family, test, card, after, _ = np.indices(shape).reshape(5, -1)
    return pd.DataFrame(
        {"family": family, "test": test, "card": card, "after": after == 1, "log": log.ravel()}
    )


def rates(values: pd.DataFrame) -> dict[str, float]:
    """The share of simulations with any FAIL, with PASS throughout, and the rest."""
    tests, _ = ab_numbers.judged(ab_numbers.by_card(values), PERCENT)
    verdicts = tests.groupby("family")["verdict"]
    fail = verdicts.agg(lambda v: bool((v == "FAIL").any()))
    good = verdicts.agg(lambda v: bool((v == "PASS").all()))
    return {"FAIL": float(fail.mean()), "PASS": float(good.mean())}


@pytest.mark.parametrize("probes", [1, 5, 16])
@pytest.mark.parametrize("tails", ["normal", "t3"])
def test_a_loss_of_two_percent_is_found(probes: int, tails: str) -> None:
    found = rates(simulated(400, loss=0.02, probes=probes, tails=tails))
    assert found["FAIL"] >= 0.95


@pytest.mark.parametrize("probes", [1, 16])
def test_one_slow_probe_among_many_is_found(probes: int) -> None:
    values = simulated(400, probes=probes)
    slow = (values["test"] == 0) & values["after"]
    values.loc[slow, "log"] += math.log1p(-0.02)
    tests, _ = ab_numbers.judged(ab_numbers.by_card(values), PERCENT)
    assert (tests.loc[tests["test"] == 0, "verdict"] == "FAIL").mean() >= 0.95
    assert (tests.loc[tests["test"] > 0, "verdict"] == "FAIL").sum() == 0


@pytest.mark.parametrize(
    ("sd", "k", "probes", "cards", "tails"),
    [
        (0.004, 10, 1, 1, "normal"),
        (0.004, 5, 16, 1, "normal"),
        (0.004, 10, 5, 8, "t3"),
        (0.01, 5, 5, 1, "t3"),
        # Noise as wide as this would fail 2 % of unchanged comparisons by the interval alone.
        (0.03, 5, 1, 1, "normal"),
        (0.10, 5, 5, 1, "normal"),
        (0.10, 5, 5, 4, "normal"),
    ],
)
def test_no_change_fails_at_most_one_time_in_a_hundred(
    sd: float, k: int, probes: int, cards: int, tails: str
) -> None:
    found = rates(simulated(800, sd=sd, k=k, probes=probes, cards=cards, tails=tails))
    # 0.7 %: what 800 simulations scatter by (two standard errors) at a true rate of 1 %.
    assert found["FAIL"] <= 0.01 + 0.007


def test_no_change_passes_where_noise_is_small() -> None:
    assert rates(simulated(400, probes=5))["PASS"] >= 0.99


def test_a_loss_within_the_margin_never_fails() -> None:
    assert rates(simulated(400, loss=0.005, probes=5))["FAIL"] == 0


def test_a_loss_at_the_margin_passes_in_five_of_a_hundred() -> None:
    found = rates(simulated(2000, loss=0.01))
    assert found["PASS"] == pytest.approx(0.05, abs=0.015)
    assert found["FAIL"] == pytest.approx(0.05, abs=0.015)


def test_one_card_is_welch_of_scipy() -> None:
    values = simulated(1, sd=0.01, k=7)
    values = values.drop(values.index[-2:])  # 7 and 5 processes
    tests, _ = ab_numbers.judged(ab_numbers.by_card(values), PERCENT)
    before, after = (values.loc[values["after"] == side, "log"] for side in (False, True))
    from scipy import stats  # noqa: PLC0415 - slow to load, also for other tests

    welch = stats.ttest_ind(after, before, equal_var=False)
    ends = welch.confidence_interval(0.90)
    assert tests.loc[0, "df"] == pytest.approx(welch.df)
    assert [tests.loc[0, "low"], tests.loc[0, "high"]] == pytest.approx([ends.low, ends.high])


def test_interval_of_cards_holds_the_truth_in_ninety_of_a_hundred() -> None:
    values = simulated(1000, loss=0.003, cards=3, k=4, sd=0.01)
    tests, _ = ab_numbers.judged(ab_numbers.by_card(values), PERCENT)
    truth = math.log1p(-0.003)
    covered = (tests["low"] < truth) & (truth < tests["high"])
    assert covered.mean() == pytest.approx(0.90, abs=0.03)


def test_holm() -> None:
    p = pd.Series([0.01, 0.04, 0.03, 0.2, float("nan")])
    family = pd.Series([0, 0, 0, 1, 1])
    found = ab_numbers.holm(p, family)
    # 3 * 0.01, then 2 * 0.03, then at least that; what was not asked counts for nothing.
    assert found.iloc[:4].tolist() == pytest.approx([0.03, 0.06, 0.06, 0.2])
    assert math.isnan(found.iloc[4])


def test_without_noise_the_margin_decides() -> None:
    for loss, verdict in ((0.0, "PASS"), (0.009, "PASS"), (0.011, "FAIL")):
        tests, _ = ab_numbers.judged(ab_numbers.by_card(simulated(1, loss=loss, sd=0.0)), PERCENT)
        assert tests.loc[0, "verdict"] == verdict
        assert np.isfinite(tests[["low", "high", "df", "p_margin", "p_change"]].to_numpy()).all()


def test_further_runs_decide() -> None:
    """Adding as many as were said makes PASS or FAIL in most simulations with that truth."""
    for loss in (0.004, 0.016):
        cards = ab_numbers.by_card(simulated(300, loss=loss, sd=0.01, k=5, seed=2))
        tests, _ = ab_numbers.judged(cards, PERCENT)
        open_ = tests.index[tests["verdict"] == "INCONCLUSIVE"][:40]
        said = [ab_numbers.further(cards.loc[[i]], PERCENT, 1) for i in open_]
        assert all(n is None or 1 <= n <= 1000 for n in said)
        assert 3 <= np.median([n or 1001 for n in said]) <= 60
    near = ab_numbers.by_card(simulated(1, loss=0.01, sd=0.0))
    near["var_0"], near["var_1"], near["effect"] = 1.0, 1.0, ab_numbers.limit(PERCENT) + 1e-6
    assert ab_numbers.further(near, PERCENT, 1) is None


def test_further_is_what_the_same_spread_would_need() -> None:
    cards = ab_numbers.by_card(simulated(1, sd=0.01, k=5, seed=9))
    said = ab_numbers.further(cards, PERCENT, 1)
    assert said is not None
    for more, decided in ((said - 1, False), (said, True)):
        grown = cards.assign(n_0=cards["n_0"] + more, n_1=cards["n_1"] + more)
        tests, _ = ab_numbers.judged(grown, PERCENT)
        assert (tests.loc[0, "verdict"] != "INCONCLUSIVE") is decided


def test_robust_measures() -> None:
    before, after = np.array([1.0, 2.0, 3.0]), np.array([0.0, 1.0, 2.5])
    found = ab_numbers.robust([(before, after), (np.array([5.0]), np.array([]))])
    assert found is not None
    # Differences: -1 -2 -3, 0 -1 -2, 1.5 0.5 -0.5.
    assert found.hodges_lehmann == -1.0
    assert found.cliffs_delta == pytest.approx((2 - 6) / 9)
    assert ab_numbers.robust([]) is None


def test_names_of_one_model() -> None:
    same = {model_key(n) for n in ("GTX 970", "GeForce GTX 970", "NVIDIA GeForce(TM) GTX  970 ")}
    assert same == {"gtx 970"}
    assert model_key("NVIDIA A100-SXM4-40GB") != model_key("NVIDIA A100-SXM4-80GB")
