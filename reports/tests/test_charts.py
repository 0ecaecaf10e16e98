# SPDX-License-Identifier: Apache-2.0
"""Coordinates. The plot runs from x 46 to 392 and from y 143 (foot) to 16 (top)."""

from bandgate_reports.trend.charts import Point, Span, chart, span_of, time_ticks

DAY = 86400.0
SPAN = Span(0.0, 100 * DAY)


def point(day: float, value: float | None, status: str = "pass", *, band: bool = True) -> Point:
    if not band:
        return Point(day * DAY, value, status, f"day {day}")
    return Point(day * DAY, value, status, f"day {day}", reference=100.0, lower=99.0, upper=101.0)


def test_times_span_the_plot() -> None:
    assert (SPAN.x(0), SPAN.x(50 * DAY), SPAN.x(100 * DAY)) == (46.0, 219.0, 392.0)


def test_a_span_is_never_empty() -> None:
    assert span_of([]) == Span(0.0, DAY)
    assert span_of([1000.0, 1000.0]) == Span(-800.0, 2800.0)


def test_ticks_are_days_hours_or_months() -> None:
    november = 1793491200.0  # 2026-11-01
    assert [t.label for t in time_ticks(Span(november, november + 20 * DAY))] == [
        "1 Nov",
        "5 Nov",
        "9 Nov",
        "13 Nov",
        "17 Nov",
        "21 Nov",
    ]
    assert [t.label for t in time_ticks(Span(november, november + 7200))] == [
        "00:00",
        "00:30",
        "01:00",
        "01:30",
        "02:00",
    ]
    assert [t.label for t in time_ticks(Span(november, november + 700 * DAY))][:2] == [
        "Jan 2027",
        "Jul 2027",
    ]


def test_every_status_has_its_own_mark() -> None:
    points = [
        point(10, 100.0),
        point(20, 97.0, "regression"),
        point(30, None, "error", band=False),
        point(40, 100.5, "no-baseline", band=False),
    ]
    drawn = chart(points, [], [], [], SPAN, 100)
    assert set(drawn.dots) == {"pass", "no-baseline"}
    assert [(m.status, m.x) for m in drawn.marks] == [("regression", 115.2), ("error", 149.8)]
    assert drawn.marks[1].y == 136  # along the foot
    assert len(drawn.readings) == 4


def test_an_unstable_pass_is_marked_and_a_first_attempt_apart() -> None:
    first = Point(DAY, 97.0, "regression", "first", final=False)
    second = Point(DAY, 100.0, "pass", "second", unstable=True)
    drawn = chart([first, second], [], [], [], SPAN, 100)
    assert [(m.status, m.unstable) for m in drawn.marks] == [("pass", True)]
    assert [m.text for m in drawn.retries] == ["first"]
    assert drawn.dots == {}


def test_the_band_follows_what_was_applied() -> None:
    moved = Point(60 * DAY, 100.0, "pass", "", reference=102.0, lower=101.0, upper=None)
    drawn = chart([point(20, 100.0), point(40, 100.0), moved], [], [], [], SPAN, 100)
    assert len(drawn.bands) == 2
    first, second = drawn.bands
    assert first[0] + first[2] == second[0] == 219.0  # half-way between day 40 and day 60
    assert second[1] == 16  # no upper bound: to the top


def test_one_result_without_an_upper_bound_has_a_scale() -> None:
    only = Point(DAY, 833.0, "pass", "", reference=833.0, lower=750.0, upper=None)
    drawn = chart([only], [], [], [], SPAN, 99)
    assert [t.label for t in drawn.y_ticks] == ["750", "775", "800", "825"]
    assert drawn.bands[0][1] == 16


def test_one_bad_night_leaves_the_scale_alone_unless_it_is_the_newest() -> None:
    nights = [point(d, 100.0) for d in range(1, 30)]
    middle = chart(
        [*nights[:10], point(10.5, 50.0, "regression"), *nights[10:]], [], [], [], SPAN, 99
    )
    assert [m.off_scale for m in middle.marks] == [True]
    assert float(middle.y_ticks[0].label) > 90
    newest = chart([*nights, point(31, 50.0, "regression")], [], [], [], SPAN, 99)
    assert [m.off_scale for m in newest.marks] == [False]
    assert float(newest.y_ticks[0].label) <= 60


def test_lines_break_at_gaps() -> None:
    line = [(d * DAY, 100.0) for d in (1, 2, 8, 9, 10)]
    drawn = chart([point(1, 100.0)], line, [(2 * DAY, 8 * DAY, "5 nights missing")], [], SPAN, 99)
    assert [path.count("L") for path in drawn.lines] == [1, 2]
    assert [(g.x, g.width, g.text) for g in drawn.gaps] == [(52.9, 20.8, "5 nights missing")]


def test_flags_close_together_keep_one_number() -> None:
    drawn = chart([point(1, 100.0)], [], [], [(10 * DAY, 1), (11 * DAY, 2), (30 * DAY, 3)], SPAN, 9)
    assert [(f.number, f.labelled) for f in drawn.flags] == [(1, True), (2, False), (3, True)]


def test_thinning_keeps_what_is_out_of_the_ordinary_and_the_newest() -> None:
    points = [point(d / 100, 100.0) for d in range(5000)]
    points[1234] = point(12.34, 90.0, "regression")
    drawn = chart(points, [], [], [], SPAN, 100)
    assert drawn.points == 5000
    assert 90 <= drawn.drawn <= 110
    assert "day 12.34" in [text for _, _, text in drawn.readings]
    assert drawn.readings[-1][2] == "day 49.99"


def test_equal_values_no_values_and_no_points_have_a_scale() -> None:
    flat = chart([point(1, 100.0, band=False), point(2, 100.0, band=False)], [], [], [], SPAN, 9)
    assert [t.label for t in flat.y_ticks] == ["99.0", "99.5", "100.0", "100.5", "101.0"]
    nothing = chart([point(1, None, "error", band=False)], [], [], [], SPAN, 9)
    assert [m.y for m in nothing.marks] == [136]
    assert chart([], [], [], [], SPAN, 9).points == 0


def test_small_differences_are_told_apart_on_the_axis() -> None:
    tiny = chart([point(1, 0.0012341), point(2, 0.0012342)], [], [], [], SPAN, 9)
    near = [
        Point(1 * DAY, 4300.01, "pass", ""),
        Point(2 * DAY, 4300.02, "pass", ""),
    ]
    labels = [t.label for t in chart(near, [], [], [], SPAN, 9).y_ticks]
    assert len(set(labels)) == len(labels) >= 3
    assert len({t.label for t in tiny.y_ticks}) == len(tiny.y_ticks)
