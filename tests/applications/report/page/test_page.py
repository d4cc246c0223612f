from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from applications.report import write_report
from applications.report.data.recomputed import ComputedResults
from applications.report.data.results import Results
from applications.report.page import design_parts, markup
from applications.report.page.bundle import ArrayBundle
from pipeline.errors import InputError
from tests.applications.report.large import large

pytest.importorskip("plotly", reason="no plotly; install limbsweep[report] to test pages")

from applications.report.page.page import parts

ALL = ["answer", "trade-off", "decides", "failed", "designs", "series-part", "workspace-part", "swept", "provenance"]


def identities(results: Results) -> list[str]:
    return [part.identity for part in parts(results)]


def test_a_part_is_there_where_its_data_are(results: Results) -> None:
    dataset = results.dataset
    assert identities(results) == ALL
    one_metric = identities(ComputedResults(dataset[["peak_force", "worst_status"]]))
    assert "trade-off" not in one_metric
    assert "designs" in one_metric
    body = next(
        p.body for p in parts(ComputedResults(dataset[["peak_force", "worst_status"]])) if p.identity == "designs"
    )
    assert "No trade-off is drawn: peak force is the only metric in which these designs differ. With a second" in body
    assert "No trade-off" not in next(part.body for part in parts(results) if part.identity == "designs")
    bare = identities(ComputedResults(dataset[["status", "actuator_force"]].assign_attrs(sweep="broken")))
    assert bare == ["answer", "failed", "series-part", "swept", "provenance"]


def test_the_page_holds_everything_and_asks_for_nothing(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    ours = re.sub(r'<script type="text/plain" id="plotting">.*?</script>', "", text, flags=re.DOTALL)
    assert len(ours) < 2_000_000 < len(text)
    assert re.findall(r"""(?:src|href)=["'](?!#|data:)[^"']*""", ours) == []
    assert "default-src 'none'" in ours
    assert "http" not in re.sub(r"http://www.w3.org/\S+", "", ours.replace("http-equiv", ""))


def test_the_front_begins_with_the_first_two_objectives(page: Path, results: Results) -> None:
    text = page.read_text(encoding="utf-8")
    across, up = (
        re.search(rf'<select id="front-{axis}">.*?<option value="(\w+)" selected>', text, re.DOTALL) for axis in "xy"
    )
    assert across is not None
    assert up is not None
    assert results.conflict is not None
    assert [across[1], up[1]] == [column.name for column in results.conflict]


def test_text_of_users_is_text(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert "Small arms do not reach &lt;everything&gt; &amp; more" in text
    assert "<everything>" not in text


def test_json_cannot_end_its_script() -> None:
    told = markup.script_json({"title": "</script><b>&"})
    assert "<" not in told
    assert json.loads(told) == {"title": "</script><b>&"}


def test_failures_come_with_advice(page: Path, results: Results) -> None:
    text = page.read_text(encoding="utf-8")
    assert "not reachable" in text
    assert "lengthen it, or move the trajectory into the workspace" in text
    failed = int((results.dataset["status"] != 0).sum())
    assert failed > 4
    assert f"{failed} of 1,312 samples are not OK" in text
    assert "12 of 16 designs are in this page. 4 have a failed or missing sample and are left out." in text


def test_samples_that_did_not_settle_are_told(results: Results) -> None:
    dataset = results.dataset
    flags = np.zeros((16, 3, 2), np.int32)
    flags[5, 1, 0], flags[7, :, 1] = 4, 2
    part = {each.identity: each for each in parts(results)}["failed"]
    assert "unsettled" not in part.body
    flagged = ComputedResults(dataset.assign(unsettled_samples=(("design", "friction", "trajectory"), flags)))
    part = {each.identity: each for each in parts(flagged)}["failed"]
    assert '<th scope="row">unsettled samples</th><td>10</td><td>2: 5, 7</td>' in part.body


def test_a_page_is_whole_or_not_there(results: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("applications.report.page.page.page", lambda results: "<html>")
    with pytest.raises(InputError, match="No such file or directory"):
        write_report(results.dataset, tmp_path / "nowhere" / "report.html")
    (tmp_path / "taken").mkdir()
    with pytest.raises(InputError, match=r"expected a file name that ends in \.html or \.htm"):
        write_report(results.dataset, tmp_path / "taken")
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(InputError, match=r"folder.html', a folder; expected a new file"):
        write_report(results.dataset, tmp_path / "folder.html")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["folder.html", "taken"]


def test_a_page_of_a_hundred_thousand_designs_has_all_of_them(tmp_path: Path) -> None:
    page = write_report(large(100_000), tmp_path / "large.html")
    text = page.read_text(encoding="utf-8")
    library = re.search(r'<script type="text/plain" id="plotting">.*?</script>', text, flags=re.DOTALL)
    assert page.stat().st_size - (len(library[0]) if library else 0) < 6_000_000
    assert "85,714 of 100,000 designs are in this page. 14,286 have a failed" in text


def test_bins_of_two_objectives_count_all_designs_where_the_page_has_some(monkeypatch: pytest.MonkeyPatch) -> None:
    results = ComputedResults(large(2000))
    assert design_parts.table_data(results, ArrayBundle())["bins"] == []
    monkeypatch.setattr(design_parts, "MOST_SHOWN", 500)
    bundle = _KeptArrays()
    bins = design_parts.table_data(results, bundle)["bins"]
    assert [each["names"] for each in bins] == [
        ["peak_force", "energy"],
        ["peak_force", "condition"],
        ["energy", "condition"],
    ]
    met, others = (bundle.arrays[record["at"]] for record in bins[0]["counts"])
    counts = np.round(np.expm1(met / design_parts.SHADES))  # shades are rounded up: few designs are told exactly
    good = results.designs.good.sum()
    assert met.shape == (96, 128)
    assert 0.97 * good < counts.sum() < 1.1 * good
    assert not others.any()
    force, energy = (results.designs.column(name).values for name in bins[0]["names"])
    row, across = np.unravel_index(met.argmax(), met.shape)
    (low, high), (least, most) = bins[0]["ranges"]
    inside = (force - low) // ((high - low) / 128) == across
    inside &= (energy - least) // ((most - least) / 96) == row
    assert abs(inside.sum() - counts.max()) <= 1


class _KeptArrays(ArrayBundle):
    def __init__(self) -> None:
        super().__init__()
        self.arrays: dict[int, np.ndarray] = {}

    def packed(self, values, kind="f8", *, rounded=False):
        record = super().packed(values, kind, rounded=rounded)
        self.arrays[record["at"]] = np.asarray(values)
        return record


def test_the_answer_comes_first(page: Path, results: Results) -> None:
    text = page.read_text(encoding="utf-8")
    assert (
        text.index('id="answer"') < text.index('id="trade-off"') < text.index('id="designs"') < text.index('id="swept"')
    )
    table, best = results.designs, results.designs.best
    force = table.column("peak_force")
    assert f"Its peak force is {force.text_at(best)}" in text
    assert "12 of 16 designs have no failed sample" in text
    assert 'class="tile" data-column="peak_force"' in text


def test_every_field_and_drawing_has_a_name(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    body = text[text.index("<body>") : text.index('<script type="application/json"')]
    for tag in re.findall(r"<canvas[^>]*>", body):
        assert 'role="img"' in tag
        assert 'tabindex="0"' in tag
        assert re.search(r'aria-label="[^"]{10,}"', tag)
    for tag in re.findall(r"<(?:input|select)[^>]*>", body):
        name = re.search(r'id="([^"]+)"', tag)
        inside = re.search(rf"<label[^>]*>[^<]*{re.escape(tag)}", body)
        assert "aria-label" in tag or inside or (name and f'for="{name[1]}"' in body), tag
    assert 'lang="en"' in text
    assert body.count("<h1>") == 1
    assert '<a class="skip"' in body


def test_colours_can_be_read_on_their_ground(page: Path) -> None:
    """Contrast of text is 4.5 or more, of lines and marks 3, light and dark (WCAG 2.1)."""
    css = re.search(r"<style>(.*?)</style>", page.read_text(encoding="utf-8"), re.DOTALL)
    assert css is not None
    blocks = re.findall(r"--ink:.*?color-scheme: (\w+)", css[1], re.DOTALL)
    assert blocks == ["light", "dark", "dark"]
    for block in re.findall(r"(--ink:.*?)color-scheme", css[1], re.DOTALL):
        colour = dict(re.findall(r"--(\w+): (#\w{6})", block))
        for ground in ("panel", "paper"):
            for name in ("ink", "quiet", "accent", "good", "bad"):
                assert contrast(colour[name], colour[ground]) >= 4.5, (name, ground, colour[name])
            assert contrast(colour["platform"], colour[ground]) >= 3.0


def contrast(one: str, other: str) -> float:
    def light(text: str) -> float:
        parts = (int(text[k : k + 2], 16) / 255 for k in (1, 3, 5))
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))

    low, high = sorted((light(one), light(other)))
    return (high + 0.05) / (low + 0.05)
