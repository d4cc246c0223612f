"""What a reader does with a page: click, brush, move the slider; what the page then shows equals the store."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline.report.data.results import Results
from pipeline.report.page.design_details import design_details
from tests.pipeline.report.browser import complaints, opened, settle, values
from tests.pipeline.report.large import large


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


def test_the_console_is_silent(window: Any) -> None:
    assert complaints(window) == []
    assert window.title == "Small arms do not reach <everything> & more"
    figures = window.execute_script("return [...document.querySelectorAll('.figure')].map((each) => each.id)")
    assert figures == ["parallel", "front", "mechanism", "series", "workspace", "sensitivity", "trouble"]


def test_figures_have_units_and_texts(window: Any) -> None:
    for name in window.execute_script("return [...document.querySelectorAll('.figure')].map((each) => each.ariaLabel)"):
        assert name.endswith(".") or ":" in name
    assert values(window, "document.getElementById('mechanism').layout.scene.xaxis.title.text") == "x [m]"
    assert "energy [J]" in values(window, "document.getElementById('parallel').data[0].dimensions.map((x) => x.label)")


def test_lines_of_designs_are_those_of_the_store(window: Any, results: Results) -> None:
    axes = window.execute_script("return document.getElementById('parallel').data[0].dimensions.map((x) => x.label)")
    table = results.designs
    for index, label in enumerate(axes):
        column = next(each for each in table.columns if each.label == label)
        shown = values(window, f"document.getElementById('parallel').data[0].dimensions[{index}].values")
        np.testing.assert_array_equal(shown, column.values[results.shown])


def test_a_brush_takes_the_designs_inside(window: Any, results: Results) -> None:
    from selenium.webdriver import ActionChains

    place = axis_of(window, "upper_arm")
    box = window.execute_script(
        """
        const figure = document.getElementById('parallel');
        figure.scrollIntoView({block: 'center'});
        const axis = figure.querySelectorAll('.axis-brush .background')[arguments[0]].getBoundingClientRect();
        return {x: axis.x + axis.width / 2, top: axis.top, height: axis.height};
        """,
        place,
    )
    # From the middle of the axis to its top: the upper half of the arms.
    hand = ActionChains(window)
    hand.w3c_actions.pointer_action.move_to_location(int(box["x"]), int(box["top"] + 0.5 * box["height"]))
    hand.w3c_actions.pointer_action.pointer_down()
    hand.w3c_actions.pointer_action.move_to_location(int(box["x"]), int(box["top"] + 0.25 * box["height"]))
    hand.w3c_actions.pointer_action.move_to_location(int(box["x"]), int(box["top"] + 2))
    hand.w3c_actions.pointer_action.release()
    hand.perform()
    settle(window)
    low, high = values(window, f"document.getElementById('parallel').data[0].dimensions[{place}].constraintrange")
    arms = results.designs.column("upper_arm").values[results.shown]
    inside = np.flatnonzero((arms >= low) & (arms <= high))
    assert 0 < len(inside) < len(arms)
    assert text(window, "brush-count").startswith(f"{len(inside)} of {len(arms)} designs in the brush")
    assert values(window, "document.getElementById('front').data[0].selectedpoints") == inside.tolist()
    rows = values(window, "[...document.querySelectorAll('#brush-rows tr')].map((x) => Number(x.cells[0].textContent))")
    assert sorted(rows) == results.shown[inside].tolist()
    peaks = results.designs.column("peak_force").values[rows]
    assert (np.diff(peaks) >= 0).all()
    window.execute_script("document.getElementById('unbrush').click()")
    settle(window)
    assert text(window, "brush-count").startswith(f"{len(arms)} of {len(arms)}")


def axis_of(window: Any, name: str) -> int:
    labels = values(window, "document.getElementById('parallel').data[0].dimensions.map((x) => x.label)")
    return int(next(index for index, label in enumerate(labels) if label.startswith(name.replace("_", " "))))


def test_a_click_on_the_front_shows_the_design(window: Any, results: Results) -> None:
    from selenium.webdriver import ActionChains

    choose(window, "front-x", "peak_force")
    choose(window, "front-y", "energy")
    front = results.designs.fronts["peak_force", "energy"]
    place = window.execute_script(
        """
        const figure = document.getElementById('front'), line = figure.data[1], index = line.x.length - 1;
        figure.scrollIntoView({block: 'center'});
        const area = figure.getBoundingClientRect(), {xaxis, yaxis} = figure._fullLayout;
        const along = (start, axis, value) => start + axis._offset + axis.l2p(value);
        return {x: along(area.x, xaxis, line.x[index]), y: along(area.y, yaxis, line.y[index])};
        """
    )
    hand = ActionChains(window)
    hand.w3c_actions.pointer_action.move_to_location(round(place["x"]) - 5, round(place["y"]))
    hand.w3c_actions.pointer_action.move_to_location(round(place["x"]), round(place["y"]))
    hand.perform()
    settle(window)
    hovered = values(window, "[...document.querySelectorAll('#front .hovertext')].map((x) => x.textContent).join()")
    assert f"design {front[-1]}" in hovered
    hand.click().perform()
    settle(window)
    assert text(window, "design-title") == f"Design {front[-1]}"
    rows = "[...document.querySelectorAll('#design-row tr')]"
    cells = values(window, f"{rows}.map((row) => [...row.cells].map((cell) => cell.textContent))")
    told = {name: float(number.split()[0]) for name, number, _ in cells}
    expected = {name.replace("_", " "): value for name, value in results.designs.row(int(front[-1])).items()}
    assert told.keys() == expected.keys()
    for name, value in told.items():
        assert value == pytest.approx(expected[name], rel=1e-5)
    assert_shown(window, results, int(front[-1]))
    choose(window, "design-number", str(results.design))


def test_other_objectives_have_other_fronts(window: Any, results: Results) -> None:
    choose(window, "front-x", "condition")
    choose(window, "front-y", "peak_reaction")
    table = results.designs
    (front,) = (each for pair, each in table.fronts.items() if set(pair) == {"condition", "peak_reaction"})
    line = values(window, "[document.getElementById('front').data[1].x, document.getElementById('front').data[1].y]")
    np.testing.assert_array_equal(line[0], np.sort(table.column("condition").values[front]))
    assert sorted(line[1]) == sorted(table.column("peak_reaction").values[front])
    assert text(window, "front-note").startswith(f"On the front: {len(front)} of 16 designs")
    choose(window, "front-x", "peak_force")
    choose(window, "front-y", "energy")


@pytest.mark.parametrize(("trajectory", "frame"), [(0, 17), (1, 40)])
def test_the_slider_moves_the_mechanism(window: Any, results: Results, trajectory: int, frame: int) -> None:
    case = results.case
    choose(window, "trajectory", str(trajectory))
    choose(window, "time", str(frame), "input")
    stored = results.dataset.isel(design=results.design, trajectory=trajectory, time=frame)
    force = np.linalg.norm(stored["joint_reaction"].values[..., 3:], axis=-1).ravel()
    told = text(window, "frame-readout")
    assert told.startswith(f"time {float(stored['time']):.6g} s: the largest force, ")
    assert float(told.split("force, ")[1].split(" N")[0]) == pytest.approx(force.max(), rel=1e-5)
    hovers = values(window, "document.getElementById('mechanism').data.find((x) => x.name === 'joints').text")
    shown = [float(each.split("force ")[1].split(" N")[0]) for each in hovers]
    np.testing.assert_allclose(shown, force, rtol=1e-5)
    corners = values(window, "['x', 'y', 'z'].map((k) => document.getElementById('mechanism').data[3][k])")
    centre = np.array(corners, float)[:, :-1].mean(axis=1)
    position = case.results["platform_position"].values[trajectory, frame]
    np.testing.assert_allclose(centre, position, atol=1e-6)
    cursor = values(window, "document.getElementById('series').layout.shapes[0].x0")
    assert cursor == pytest.approx(float(stored["time"]))


def test_series_are_those_of_the_store(window: Any, results: Results) -> None:
    for trajectory in (1, 0):
        choose(window, "series-trajectory", str(trajectory))
        stored = results.dataset["actuator_force"].isel(
            design=results.design, friction=results.friction, trajectory=trajectory
        )
        shown = values(window, "document.getElementById('series').data.slice(0, 3).map((line) => line.y)")
        np.testing.assert_array_equal(np.array(shown).T, stored.values)


def test_arrows_can_be_taken_away(window: Any) -> None:
    arrows = "document.getElementById('mechanism').data.find((x) => x.name === 'reaction forces').x.length"
    before = values(window, arrows)
    window.execute_script("document.getElementById('arrows').click()")
    settle(window)
    assert (before, values(window, arrows)) == (3 * 21, 0)
    window.execute_script("document.getElementById('arrows').click()")
    settle(window)


def test_the_animation_plays(window: Any) -> None:
    choose(window, "time", "0", "input")
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
    assert max(shown) == pytest.approx(worst, rel=1e-6)


def force_of(results: Results, design: int, trajectory: int, frame: int) -> float:
    stored = results.dataset["joint_reaction"].isel(design=design, trajectory=trajectory, time=frame)
    return float(np.linalg.norm(stored.values[..., 3:], axis=-1).max())


def assert_shown(window: Any, results: Results, design: int) -> None:
    """The row, the mechanism, the series and the map are those of that design in the store."""
    settle(window)
    assert text(window, "design-title") == f"Design {design}"
    told = window.execute_script("return [...document.querySelectorAll('.which')].map((each) => each.textContent)")
    arm, radius = (results.designs.column(name).values[design] for name in ("upper_arm", "base_radius"))
    assert len(told) == 3
    for each in told:
        assert f"Design {design} (base radius {radius:g} m, upper arm {arm:g} m), friction set 2" in each
    trajectory, frame = int(read(window, "trajectory")), int(read(window, "time"))
    most = float(text(window, "frame-readout").split("force, ")[1].split(" N")[0])
    assert most == pytest.approx(force_of(results, design, trajectory, frame), rel=1e-5)
    stored = results.dataset["actuator_force"].isel(
        design=design, friction=results.friction, trajectory=int(read(window, "series-trajectory"))
    )
    shown = values(window, "document.getElementById('series').data.slice(0, 3).map((line) => line.y)")
    np.testing.assert_array_equal(np.array(shown).T, stored.values)
    mark = values(
        window, "[document.getElementById('front').data[2].x[0], document.getElementById('front').data[2].y[0]]"
    )
    row = results.designs.row(design)
    assert mark == [row[read(window, "front-x")], row[read(window, "front-y")]]


def read(window: Any, identity: str) -> str:
    return str(window.execute_script("return document.getElementById(arguments[0]).value", identity))


def test_a_number_in_the_table_looks_into_that_design(window: Any, results: Results) -> None:
    buttons = window.find_elements("css selector", "#brush-rows button")
    design = int(buttons[-1].text)
    assert design != results.design
    buttons[-1].click()
    assert_shown(window, results, design)
    assert text(window, "design-note") == "The sections below show this design."
    choose(window, "design-number", str(results.design))


def test_a_line_that_is_clicked_is_looked_into(window: Any, results: Results) -> None:
    from selenium.webdriver import ActionChains

    place = axis_of(window, "energy")
    ends = window.execute_script(
        """
        const figure = document.getElementById('parallel');
        figure.scrollIntoView({block: 'center'});
        return [...figure.querySelectorAll('.axis-brush .background')].slice(arguments[0], arguments[0] + 2)
          .map((each) => each.getBoundingClientRect()).map((box) => [box.x + box.width / 2, box.top, box.height]);
        """,
        place,
    )
    # The line of the design with the most energy, a third of the way to the next axis.
    names = [each.name for each in (*results.designs.parameters, *results.designs.objectives)]
    columns = [results.designs.column(name).values[results.shown] for name in names[place : place + 2]]
    heights = np.stack([(each - each.min()) / np.ptp(each) for each in columns])
    line = int(heights[0].argmax())
    (x0, top, height), (x1, _, _) = ends
    high = heights[0, line] + (heights[1, line] - heights[0, line]) / 3
    hand = ActionChains(window)
    aim = hand.w3c_actions.pointer_action
    for step in range(-6, 7):  # the pointer has to be on the line to a pixel
        aim.move_to_location(round(x0 + (x1 - x0) / 3), round(top + (1 - high) * height) + step)
        hand.perform()
        settle(window)
        if text(window, "line-readout").startswith(f"design {results.shown[line]},"):
            break
    ActionChains(window).click().perform()
    assert_shown(window, results, int(results.shown[line]))
    choose(window, "design-number", str(results.design))


def test_a_number_that_is_typed_is_looked_into(window: Any, results: Results) -> None:
    choose(window, "design-number", str(results.design))
    assert_shown(window, results, results.design)
    choose(window, "design-number", "2")
    assert text(window, "design-note") == "Design 2 is not among the 12 that the page shows."
    assert text(window, "design-title") == f"Design {results.design}"


def test_a_position_that_is_clicked_is_the_mechanisms(window: Any, results: Results) -> None:
    window.execute_script(
        "document.getElementById('workspace').emit('plotly_click', {points: [{pointNumber: 41 + 23}]})"
    )
    settle(window)
    assert (read(window, "trajectory"), read(window, "time")) == ("1", "23")


def test_paper_gets_a_still_picture_of_the_mechanism(window: Any) -> None:
    ink = window.execute_script(
        """
        window.dispatchEvent(new Event('beforeprint'));
        const still = document.querySelector('#mechanism .still');
        const pixels = still.getContext('2d').getImageData(0, 0, still.width, still.height).data;
        let ink = 0;
        for (let i = 0; i < pixels.length; i += 4)
          ink += pixels[i + 3] > 0 && pixels[i] + pixels[i + 1] + pixels[i + 2] < 600;
        return [ink, Number(document.getElementById('mechanism').style.zoom)];
        """
    )
    assert ink[0] > 500
    assert 0.3 < ink[1] < 1.0
    window.execute_script("window.dispatchEvent(new Event('afterprint'))")
    left = "[document.querySelectorAll('.still').length, document.getElementById('mechanism').style.zoom]"
    assert values(window, left) == [0, ""]


@pytest.mark.parametrize("width", [1280, 1920])
def test_nothing_is_wider_than_the_window(window: Any, width: int) -> None:
    before = window.get_window_size()
    window.set_window_size(width, before["height"])
    settle(window)
    assert window.execute_script("return document.documentElement.scrollWidth <= window.innerWidth")
    cut = window.execute_script(
        """
        const inside = (box, room) => box.left >= room.left - 1 && box.right <= room.right + 1;
        const box = (each) => each.getBoundingClientRect();
        return [...document.querySelectorAll('.controls > *, .figure .main-svg')]
          .filter((each) => !inside(box(each), box(each.closest('section')))).map((each) => each.outerHTML);
        """
    )
    assert cut == []
    window.set_window_size(before["width"], before["height"])
    settle(window)


def test_nothing_was_said_on_the_console_meanwhile(window: Any) -> None:
    assert complaints(window) == []


@pytest.mark.slow
def test_a_design_that_the_page_does_not_hold_is_told(
    results: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pipeline.report.page.page import write

    monkeypatch.setattr("pipeline.report.page.design_details.MOST_DESIGNS", 3)
    few = Results(results.dataset)
    write(few, tmp_path / "few.html")
    held = [each["design"] for each in design_details(few)]
    other = next(int(design) for design in few.shown if design not in held)
    with opened(tmp_path / "few.html") as window:
        choose(window, "design-number", str(other))
        assert text(window, "design-note") == (
            "The page holds the mechanism and the series of 3 designs, marked by dark points, not of this one: "
            f"limbsweep report STORE --design {other}"
        )
        assert f"Design {few.design} (" in text(window, "motion")
        colours = values(window, "document.getElementById('front').data[0].marker.color")
        assert [colours[k] != colours[list(few.shown).index(other)] for k in range(len(colours))] == [
            design in held for design in few.shown
        ]


@pytest.mark.slow
def test_a_hundred_thousand_designs_can_be_brushed(tmp_path: Path) -> None:
    pytest.importorskip("plotly", reason="no plotly; install limbsweep[report] to test pages")
    from pipeline.report import write_report

    with opened(write_report(large(100_000), tmp_path / "large.html")) as window:
        window.execute_script("Plotly.restyle('parallel', {'dimensions[0].constraintrange': [[0.1, 0.4]]})")
        settle(window)
        assert " of 5000 designs in the brush" in text(window, "brush-count")
        assert complaints(window) == []
