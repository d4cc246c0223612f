from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from pipeline.errors import InputError
from pipeline.report import write_report
from pipeline.report.data.results import Results
from pipeline.report.page import markup
from tests.pipeline.report.large import large

pytest.importorskip("plotly", reason="no plotly; install limbsweep[report] to test pages")

from pipeline.report.page.parts import parts

CASE = ["motion", "series-part", "workspace-part"]
ALL = ["swept", "designs", "objectives", "one", *CASE, "sensitivity-part", "failed"]


def identities(results: Results) -> list[str]:
    return [part.identity for part in parts(results)]


def test_a_part_is_there_where_its_data_are(results: Results) -> None:
    dataset = results.dataset
    assert identities(results) == [*ALL, "provenance"]
    one_metric = identities(Results(dataset[["peak_force", "worst_status"]]))
    assert "objectives" not in one_metric
    assert "designs" in one_metric
    bare = identities(Results(dataset[["status", "actuator_force"]].assign_attrs(sweep="broken")))
    assert bare == ["swept", "motion", "series-part", "failed", "provenance"]


def test_the_page_holds_everything_and_asks_for_nothing(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    ours = re.sub(r"<script>/\*\*\n\* plotly.*?</script>", "", text, flags=re.DOTALL)
    assert len(ours) < 2_000_000 < len(text)
    assert re.findall(r"""(?:src|href)=["'](?!#|data:)[^"']*""", ours) == []
    assert "default-src 'none'" in ours
    assert "http" not in re.sub(r"http://www.w3.org/\S+", "", ours.replace("http-equiv", ""))


def test_text_of_users_is_text(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert "Small arms do not reach &lt;everything&gt; &amp; more" in text
    assert "<everything>" not in text


def test_json_cannot_end_its_script() -> None:
    told = markup.script_json({"title": "</script><b>&"})
    assert "<" not in told
    assert json.loads(told) == {"title": "</script><b>&"}


def test_packed_arrays_keep_all_bits() -> None:
    import base64

    values = np.array([[0.1, np.pi, -0.0], [1e-300, np.inf, 3.0]])
    made = markup.packed(values)
    back = np.frombuffer(base64.b64decode(made["bytes"]), "<f8").reshape(made["shape"])
    assert back.tobytes() == values.tobytes()


def test_failures_come_with_advice(page: Path, results: Results) -> None:
    text = page.read_text(encoding="utf-8")
    assert "not reachable" in text
    assert "lengthen it, or move the trajectory into the workspace" in text
    failed = int((results.dataset["status"] != 0).sum())
    assert failed > 4
    assert f"{failed} of 1,312 samples are not OK" in text
    assert "12 of 16 designs are shown. 4 have a failed or missing sample and are left out." in text


def test_samples_that_did_not_settle_are_told(results: Results) -> None:
    dataset = results.dataset
    flags = np.zeros((16, 3, 2), np.int32)
    flags[5, 1, 0], flags[7, :, 1] = 4, 2
    part = {each.identity: each for each in parts(results)}["failed"]
    assert "unsettled" not in part.body
    flagged = Results(dataset.assign(unsettled_samples=(("design", "friction", "trajectory"), flags)))
    part = {each.identity: each for each in parts(flagged)}["failed"]
    assert '<th scope="row">unsettled samples</th><td>10</td><td>2: 5, 7</td>' in part.body


def test_a_page_is_whole_or_not_there(results: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.report.page.page.page", lambda results: "<html>")
    with pytest.raises(InputError, match="No such file or directory"):
        write_report(results.dataset, tmp_path / "nowhere" / "report.html")
    (tmp_path / "taken").mkdir()
    with pytest.raises(InputError, match=r"expected a file name that ends in \.html or \.htm"):
        write_report(results.dataset, tmp_path / "taken")
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(InputError, match=r"folder.html', a folder; expected a new file"):
        write_report(results.dataset, tmp_path / "folder.html")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["folder.html", "taken"]


def test_a_page_of_a_hundred_thousand_designs_is_no_larger(tmp_path: Path) -> None:
    page = write_report(large(100_000), tmp_path / "large.html")
    assert page.stat().st_size < 6_000_000
    assert "5,000 of 100,000 designs are shown. 14,286 have a failed" in page.read_text(encoding="utf-8")


def test_without_plotly_the_extra_is_named(results: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.report.page.page.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"got no package plotly; expected plotly.*limbsweep\[report\]"):
        write_report(results.dataset, tmp_path / "report.html")
