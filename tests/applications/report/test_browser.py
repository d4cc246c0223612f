"""Actions of a reader on a page: click, brush, move the slider; the shown values equal the store."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from applications.report.data.display import rounded
from applications.report.data.recomputed import ComputedResults
from applications.report.data.results import Results
from applications.report.page.runs import design_details
from tests.applications.report.browser import complaints, opened, settle, values
from tests.applications.report.large import large

PAGE = "window.limbsweepReport"


def choose(window: Any, identity: str, value: str, event: str = "change") -> None:
    """Give a control a value as a user does, and wait for the figures."""
    window.execute_script(
        "const it = document.getElementById(arguments[0]); it.value = arguments[1];"
        "it.dispatchEvent(new Event(arguments[2]));",
        identity,
        value,
        event,
    )
    settle(window)


def text(window: Any, identity: str) -> str:
    return str(window.execute_script("return document.getElementById(arguments[0]).textContent", identity))


def read(window: Any, identity: str) -> str:
    return str(window.execute_script("return document.getElementById(arguments[0]).value", identity))


def hand(window: Any, *moves: tuple[str, float, float]) -> None:
    """Move the pointer within the window: `to`, `down`, `up` at pixels."""
    from selenium.webdriver import ActionChains

    chain = ActionChains(window, duration=0)  # a move takes a quarter of a second otherwise
    pointer = chain.w3c_actions.pointer_action
    for what, x, y in moves:
        pointer.move_to_location(round(x), round(y))
        if what == "down":
            pointer.pointer_down()
        if what == "up":
            pointer.pointer_up()
    chain.perform()
    settle(window)


def box_of(window: Any, identity: str) -> dict[str, float]:
    """Return the box of an element after it has been moved into the window."""
    box: dict[str, float] = window.execute_script(
        "const it = document.getElementById(arguments[0]); it.scrollIntoView({block: 'center', behavior: 'instant'});"
        "const {x, y, width, height} = it.getBoundingClientRect(); return {x, y, width, height};",
        identity,
    )
    settle(window)
    return box


def test_the_console_is_silent(window: Any) -> None:
    assert complaints(window) == []
    assert window.title == "Small arms do not reach <everything> & more"
    figures = window.execute_script("return [...document.querySelectorAll('.figure, canvas')].map((each) => each.id)")
    assert figures == ["mechanism", "front", "parallel", "matrix", "series", "workspace"]


def test_the_answer_is_on_the_first_screen(window: Any, results: Results) -> None:
    window.execute_script("scrollTo({top: 0, behavior: 'instant'})")
    tops = values(
        window, "['design-title', 'mechanism'].map((id) => document.getElementById(id).getBoundingClientRect().top)"
    )
    assert all(0 < top < 500 for top in tops)
    force = results.designs.column("peak_force")
    tile = values(window, "document.querySelector('.tile[data-column=peak_force] .value').textContent")
    assert tile == force.text_at(results.place)


def test_numbers_are_written_as_in_python(window: Any) -> None:
    draw = np.random.default_rng(5)
    numbers = [0.0, 1.0, 999.6, 1e7, 0.0001, 123456.0, *(draw.normal(size=60) * 10.0 ** draw.integers(-9, 10, 60))]
    told = window.execute_script(f"return arguments[0].map({PAGE}.rounded)", numbers)
    assert told == [rounded(number) for number in numbers]


def test_columns_are_those_of_the_store(window: Any, results: Results) -> None:
    for column in values(window, f"{PAGE}.table.columns.map((it) => [it.name, it.values, it.sign])"):
        own = results.designs.column(column[0])
        np.testing.assert_array_equal(column[1], own.values[results.shown])
        assert column[2] == own.sign


def test_a_brush_takes_the_designs_inside(window: Any, results: Results) -> None:
    box = box_of(window, "parallel")
    axes = values(window, f"{PAGE}.state.axes")
    assert len(axes) <= 8
    # axes stand from 56 px behind the left edge to 64 before the right one, values from 58 px below the top to 24 px
    # above the end
    x = box["x"] + 56 + (box["width"] - 120) * axes.index("upper_arm") / (len(axes) - 1)
    top, bottom = box["y"] + 58, box["y"] + box["height"] - 24
    hand(window, ("down", x, (top + bottom) / 2), ("to", x, top + 20), ("up", x, top - 5))
    low, high = values(window, f"{PAGE}.filter.ranges.get('upper_arm')")
    arms = results.designs.column("upper_arm").values[results.shown]
    assert low == pytest.approx((arms.min() + arms.max()) / 2, abs=0.02 * np.ptp(arms))
    inside = np.flatnonzero((arms >= low) & (arms <= high))
    assert 0 < len(inside) < len(arms)
    assert text(window, "brush-count").startswith(f"{len(inside)} of {len(arms)} designs are kept")
    assert np.flatnonzero(values(window, f"{PAGE}.filter.mask")).tolist() == inside.tolist()
    rows = values(window, "[...document.querySelectorAll('#brush-rows tr')].map((x) => Number(x.cells[0].textContent))")
    assert sorted(rows) == results.shown[inside].tolist()
    peaks = results.designs.column("peak_force").values[rows]
    assert (np.diff(peaks) >= 0).all()
    fields = values(
        window, "[...document.querySelectorAll('#ranges input[data-column=upper_arm]')].map((x) => Number(x.value))"
    )
    np.testing.assert_allclose(fields, [1000 * low, 1000 * high], rtol=1e-3)  # in mm
    window.execute_script("document.getElementById('unbrush').click()")
    settle(window)
    assert text(window, "brush-count").startswith(f"{len(arms)} of {len(arms)}")


def test_ranges_and_searches_are_typed(window: Any, results: Results) -> None:
    arms = results.designs.column("upper_arm").values[results.shown]
    window.execute_script(
        "const it = document.querySelector('#ranges input.low[data-column=upper_arm]');"
        "it.value = '270'; it.dispatchEvent(new Event('change'));"
    )
    settle(window)
    assert text(window, "brush-count").startswith(f"{(arms >= 0.27).sum()} of")
    window.execute_script("document.getElementById('unbrush').click()")
    choose(window, "search", "upper arm <= 250 mm, base radius > 145", "input")
    settle(window)
    radii = results.designs.column("base_radius").values[results.shown]
    wanted = (arms <= 0.25) & (radii > 0.145)
    assert np.array_equal(np.array(values(window, f"{PAGE}.filter.mask"), bool), wanted)
    choose(window, "search", "lower arm < 3", "input")
    settle(window)
    assert text(window, "search-note").startswith("Not understood")
    choose(window, "search", "", "input")
    window.execute_script("document.getElementById('unbrush').click()")
    settle(window)


def test_fronts_are_those_of_the_study(window: Any, results: Results) -> None:
    table = results.designs
    for pair, front in table.fronts.items():
        if any(not table.column(name).varies for name in pair):
            continue
        a, b = (f"{PAGE}.table.byName.get('{name}')" for name in pair)
        line = values(window, f"{PAGE}.frontOf({PAGE}.table, {a}, {b})")
        assert sorted(results.shown[line]) == sorted(front), pair


def test_a_click_on_the_front_shows_the_design(window: Any, results: Results) -> None:
    choose(window, "front-x", "peak_force")
    choose(window, "front-y", "energy")
    front = results.designs.fronts["peak_force", "energy"]
    place = int(np.flatnonzero(results.shown == front[-1])[0])
    box = box_of(window, "front")
    at = values(window, f"{PAGE}.front.at({place})")
    hand(window, ("to", box["x"] + at[0] - 3, box["y"] + at[1]), ("to", box["x"] + at[0], box["y"] + at[1]))
    assert text(window, "front-readout").startswith(f"design {front[-1]},")
    hand(window, ("down", box["x"] + at[0], box["y"] + at[1]), ("up", box["x"] + at[0], box["y"] + at[1]))
    assert_shown(window, results, int(front[-1]))
    cells = values(
        window,
        "[...document.querySelectorAll('#design-row tr')].map((row) => [...row.cells].map((x) => x.textContent))",
    )
    told = {name: number for name, number, _ in cells}
    for column in (*results.designs.parameters, *results.designs.objectives):
        unit = column.shown_in
        assert float(told[column.words].split()[0].replace("\u202f", "")) == pytest.approx(
            column.values[front[-1]] * unit.factor, rel=1e-4
        )
    choose(window, "design-number", str(results.design))


def test_the_arrow_keys_step_along_the_front(window: Any, results: Results) -> None:
    from selenium.webdriver.common.keys import Keys

    front = results.designs.fronts["peak_force", "energy"]
    canvas = window.find_element("id", "front")
    window.execute_script("arguments[0].focus()", canvas)
    shown = []
    for _ in front:
        canvas.send_keys(Keys.ARROW_RIGHT)
        shown.append(int(read(window, "design-number")))
    assert sorted(shown) == sorted(front)
    choose(window, "design-number", str(results.design))


@pytest.mark.parametrize(("trajectory", "frame"), [(0, 17), (1, 40)])
def test_the_slider_moves_the_mechanism(window: Any, results: Results, trajectory: int, frame: int) -> None:
    case = results.case
    choose(window, "trajectory", str(trajectory))
    choose(window, "time", str(frame), "input")
    stored = results.dataset.isel(design=results.design, trajectory=trajectory, time=frame)
    force = np.linalg.norm(stored["joint_reaction"].values[..., 3:], axis=-1).ravel()
    told = text(window, "frame-readout")
    assert told.startswith(f"time {rounded(float(stored['time']))} s: the largest force, ")
    assert float(told.split("force, ")[1].split(" N")[0]) == pytest.approx(force.max(), rel=5e-3)
    shown = values(window, f"{PAGE}.mechanism.forces()")
    np.testing.assert_allclose(shown, force, rtol=1e-4)
    centre = np.mean(values(window, f"{PAGE}.mechanism.corners()"), axis=0)
    position = case.results["platform_position"].values[trajectory, frame]
    np.testing.assert_allclose(centre, position, atol=2e-5)
    cursor = values(window, "document.getElementById('series').layout.shapes[0].x0")
    assert cursor == pytest.approx(float(stored["time"]))


def test_the_mechanism_fills_its_place(window: Any) -> None:
    box_of(window, "mechanism")
    for azimuth in (0.0, 1.0, 2.0):
        spans = values(window, f"{PAGE}.mechanism.extent({azimuth})")
        assert max(spans) > 0.6
        assert max(spans) <= 1.0


def test_series_are_those_of_the_store(window: Any, results: Results) -> None:
    for trajectory in (1, 0):
        choose(window, "series-trajectory", str(trajectory))
        stored = results.dataset["actuator_force"].isel(
            design=results.design, friction=results.friction, trajectory=trajectory
        )
        shown = values(window, "document.getElementById('series').data.slice(0, 3).map((line) => line.y)")
        np.testing.assert_array_equal(np.array(shown).T, stored.values)


def test_the_animation_plays(window: Any) -> None:
    choose(window, "time", "0", "input")
    assert text(window, "play") == "Play"
    window.execute_script("document.getElementById('play').click()")
    moved = window.execute_async_script(
        "const it = document.getElementById('time');"
        "const wait = () => Number(it.value) > 2 ? arguments[0](true) : setTimeout(wait, 50); wait();"
    )
    window.execute_script("document.getElementById('play').click()")
    assert moved
    assert text(window, "play") == "Play"


def test_the_workspace_takes_other_colours(window: Any, results: Results) -> None:
    choose(window, "workspace-colour", "designs that reach it [%]")
    shown = values(window, "document.getElementById('workspace').data[0].marker.color")
    share = 100.0 * (results.dataset["status"] == 0).mean("design")
    np.testing.assert_allclose(shown, share.values.ravel())
    assert min(shown) == 75.0
    choose(window, "workspace-colour", "condition number of J_IK")
    shown = values(window, "document.getElementById('workspace').data[0].marker.color")
    worst = float(results.dataset["condition"].isel(design=results.design).max())
    assert max(shown) == pytest.approx(worst, rel=1e-4)


def assert_shown(window: Any, results: Results, design: int) -> None:
    """The words, the mechanism, and the series are those of that design in the store."""
    settle(window)
    assert text(window, "design-title").startswith(f"Design {design}")
    told = window.execute_script("return [...document.querySelectorAll('.which')].map((each) => each.textContent)")
    arm, radius = (results.designs.column(name).text_at(design) for name in ("upper_arm", "base_radius"))
    assert len(told) == 3
    for each in told[1:]:
        assert f"Design {design} (base radius {radius}, upper arm {arm}), friction set 2" in each
    trajectory, frame = int(read(window, "trajectory")), int(read(window, "time"))
    stored = results.dataset["joint_reaction"].isel(design=design, trajectory=trajectory, time=frame)
    force = np.linalg.norm(stored.values[..., 3:], axis=-1).ravel()
    np.testing.assert_allclose(values(window, f"{PAGE}.mechanism.forces()"), force, rtol=1e-4)
    stored = results.dataset["actuator_force"].isel(
        design=design, friction=results.friction, trajectory=int(read(window, "series-trajectory"))
    )
    shown = values(window, "document.getElementById('series').data.slice(0, 3).map((line) => line.y)")
    np.testing.assert_array_equal(np.array(shown).T, stored.values)


def test_a_number_in_the_table_looks_into_that_design(window: Any, results: Results) -> None:
    buttons = window.find_elements("css selector", "#brush-rows button")
    design = int(buttons[-1].text)
    assert design != results.design
    window.execute_script("arguments[0].click()", buttons[-1])
    assert_shown(window, results, design)
    choose(window, "design-number", str(results.design))


def test_a_line_that_is_clicked_is_looked_into(window: Any, results: Results) -> None:
    box = box_of(window, "parallel")
    names = values(window, f"{PAGE}.state.axes")
    k = names.index("peak_force")
    columns = [results.designs.column(name).values[results.shown] for name in names[k : k + 2]]
    heights = np.stack([(each - each.min()) / np.ptp(each) for each in columns])
    line = int(heights[0].argmax())
    high = heights[0, line] + (heights[1, line] - heights[0, line]) * 0.4
    gap = (box["width"] - 120) / (len(names) - 1)
    x, y = box["x"] + 56 + gap * (k + 0.4), box["y"] + 58 + (1 - high) * (box["height"] - 82)
    hand(window, ("to", x - 1, y), ("to", x, y))
    assert text(window, "line-readout").startswith(f"design {results.shown[line]},")
    hand(window, ("down", x, y), ("up", x, y))
    assert_shown(window, results, int(results.shown[line]))
    choose(window, "design-number", str(results.design))


def test_lines_are_those_of_the_designs_that_are_kept(window: Any) -> None:
    drawn = (
        "(() => { const it = document.getElementById('parallel'), { width, height } = it;"
        " const all = it.getContext('2d').getImageData(0, 0, width, height).data; let sum = 0;"
        " for (let i = 0; i < all.length; i++) sum = (sum * 31 + all[i]) | 0;"
        " return sum; })()"
    )
    shown = f"{PAGE}.filter.range({PAGE}.state.axes[0], null); "
    column = f"{PAGE}.table.byName.get({PAGE}.state.axes[0])"
    window.execute_script("document.getElementById('parallel').scrollIntoView({block: 'center', behavior: 'instant'})")
    window.execute_script(shown)
    settle(window)
    before = values(window, drawn)
    window.execute_script(f"{PAGE}.filter.range({column}.name, [{column}.low, {column}.low])")
    settle(window)
    brushed = values(window, drawn)
    window.execute_script(shown)
    settle(window)
    assert values(window, drawn) == before != brushed


def test_a_number_that_is_not_there_is_told(window: Any, results: Results) -> None:
    choose(window, "design-number", "2")
    assert text(window, "design-note") == "Design 2 is not among the 12 that the page shows."
    assert text(window, "design-title").startswith(f"Design {results.design}")
    choose(window, "design-number", str(results.design))


def test_pinned_designs_stand_side_by_side(window: Any, results: Results) -> None:
    window.execute_script("document.getElementById('pin').click()")
    choose(window, "design-number", "15")
    window.execute_script("document.getElementById('pin').click()")
    heads = values(
        window, "[...document.querySelectorAll('#pinned thead button:first-child')].map((x) => x.textContent)"
    )
    assert heads == [f"design {results.design}", "design 15"]
    force = results.designs.column("peak_force")
    rows = "[...document.querySelectorAll('#pinned tbody tr')]"
    row = values(window, f"{rows}.find((x) => x.cells[0].textContent === 'peak force').innerText")
    assert force.text_at(15) in row
    share = force.values[15] / force.values[results.design] - 1
    assert f"+{rounded(100 * share, 2)} %" in row
    for _ in range(2):
        window.execute_script("document.querySelector('#pinned thead button:last-child').click()")
    assert values(window, "document.querySelectorAll('#pinned table').length") == 0
    choose(window, "design-number", str(results.design))


def test_designs_are_downloaded_as_a_table(window: Any, results: Results) -> None:
    import csv
    import io

    told = values(window, f"{PAGE}.csvOf({PAGE}.table, [0, 3])")
    heads, *rows = csv.reader(io.StringIO(told))
    assert heads[0] == "design"
    assert [int(row[0]) for row in rows] == results.shown[[0, 3]].tolist()
    place = heads.index("peak_force [N m]")
    assert [float(row[place]) for row in rows] == results.designs.column("peak_force").values[
        results.shown[[0, 3]]
    ].tolist()
    assert values(window, f"['=A1', '-3', 'a,b', '@x'].map({PAGE}.cellText)") == ["'=A1", "-3", '"a,b"', "'@x"]


def test_the_theme_is_switched(window: Any) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    before = values(window, ground)
    window.execute_script("document.getElementById('theme').click()")
    settle(window)
    assert values(window, ground) != before
    assert values(window, "document.getElementById('theme').getAttribute('aria-pressed')") == "true"
    window.execute_script("document.getElementById('theme').click()")
    settle(window)
    assert values(window, ground) == before


def test_paper_gets_all_figures_in_light_colours(window: Any) -> None:
    window.execute_script("document.getElementById('theme').click(); window.dispatchEvent(new Event('beforeprint'))")
    settle(window)
    ink = window.execute_script(
        """
        return [...document.querySelectorAll('canvas[role=img]')].map((canvas) => {
          const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
          let ink = 0;
          for (let i = 3; i < pixels.length; i += 4) ink += pixels[i] > 0;
          return ink;
        });
        """
    )
    assert len(ink) == 4
    assert min(ink) > 500
    assert values(window, "document.documentElement.dataset.theme") == "light"
    window.execute_script("window.dispatchEvent(new Event('afterprint')); document.getElementById('theme').click()")


@pytest.mark.parametrize("width", [390, 820, 1280, 1920])
def test_nothing_is_wider_than_the_window(window: Any, width: int) -> None:
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    window.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    settle(window)
    assert window.execute_script("return document.documentElement.scrollWidth <= window.innerWidth")
    cut = window.execute_script(
        """
        const inside = (box, room) => box.left >= room.left - 1 && box.right <= room.right + 1;
        const box = (each) => each.getBoundingClientRect();
        return [...document.querySelectorAll('.controls > *, .drawing')].filter((each) => each.offsetParent)
          .filter((each) => !inside(box(each), box(each.closest('section')))).map((each) => each.outerHTML);
        """
    )
    assert cut == []
    small = window.execute_script(
        "return [...document.querySelectorAll('.controls button, .controls select')]"
        ".filter((each) => each.offsetParent)"
        ".filter((each) => each.getBoundingClientRect().height < (innerWidth < 620 ? 40 : 32)).map((each) => each.id)"
    )
    assert small == []
    window.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    settle(window)


def test_nothing_was_said_on_the_console_meanwhile(window: Any) -> None:
    assert complaints(window) == []


@pytest.mark.slow
def test_a_design_that_the_page_does_not_hold_is_told(
    results: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from applications.report.page.page import write

    monkeypatch.setattr("applications.report.page.runs.MOST_DESIGNS", 3)
    few = ComputedResults(results.dataset)
    write(few, tmp_path / "few.html")
    held = [each["design"] for each in design_details(few)]
    other = next(int(design) for design in few.shown if design not in held)
    with opened(tmp_path / "few.html") as window:
        choose(window, "design-number", str(other))
        assert text(window, "design-note").endswith(f"limbsweep report STORE --design {other}")
        assert f"Design {few.design} (" in text(window, "series-part")


@pytest.mark.slow
def test_a_hundred_thousand_designs_can_be_brushed(tmp_path: Path) -> None:
    pytest.importorskip("plotly", reason="no plotly; install limbsweep[report] to test pages")
    from applications.report import write_report

    with opened(write_report(large(100_000), tmp_path / "large.html")) as window:
        window.execute_script(f"{PAGE}.filter.range('upper_arm', [0.1, 0.4])")
        settle(window)
        assert " of 85,714 designs are kept" in text(window, "brush-count")
        assert complaints(window) == []
