"""Schemas take every file that limbsweep takes, and underline what it refuses."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from ruamel.yaml import YAML

from applications.commands.cli import cli
from applications.commands.schemas import KINDS, schema
from pipeline.errors import InputError

ROOT = Path(__file__).parents[2]
FILES = {
    "sweep": ("examples/*.yaml", "examples/studies/*.yaml"),
    "robot": ("examples/robots/*.yaml",),
    "cluster": ("cluster.yaml", "examples/clusters/*.yaml"),
}
jsonschema = pytest.importorskip("jsonschema", reason="no jsonschema; install limbsweep[test]")


@cache
def validator_of(kind: str) -> Any:
    return jsonschema.Draft202012Validator(schema(kind))


def problems(kind: str, content: Any) -> list[str]:
    validator = validator_of(kind)
    return [".".join(map(str, problem.absolute_path)) for problem in validator.iter_errors(content)]


def loaded(text: str) -> Any:
    return YAML(typ="safe").load(text)


@pytest.mark.parametrize("kind", KINDS)
def test_a_schema_is_one(kind: str) -> None:
    jsonschema.Draft202012Validator.check_schema(schema(kind))
    printed = CliRunner().invoke(cli, ["schema", kind])
    assert json.loads(printed.output) == schema(kind)


@pytest.mark.repository
@pytest.mark.parametrize("kind", FILES)
def test_the_examples_are_right(kind: str) -> None:
    files = [file for pattern in FILES[kind] for file in ROOT.glob(pattern)]
    assert files
    assert {file.name: found for file in files if (found := problems(kind, loaded(file.read_text("utf-8"))))} == {}


def test_a_text_in_place_of_a_list_may_be_long() -> None:
    texts = {"study": {"where": "condition < 5 and peak_force < 100"}, "design": {"file": "motors_of_a_catalogue.csv"}}
    texts |= {"friction": {"joints": "all"}, "robot": "five_bar", "limbsweep": 1, "time": {"stop": 1, "samples": 2}}
    assert problems("sweep", texts | {"trajectories": {"c": {"kind": "circle"}}}) == []


def test_mistakes_are_seen() -> None:
    sweep = loaded(CliRunner().invoke(cli, ["schema"]).output)
    assert "delta_3rr2rrr" in json.dumps(sweep["properties"]["robot"])
    assert "peak_force" in json.dumps(sweep["properties"]["metrics"])
    right = {"limbsweep": 1, "robot": "five_bar", "trajectories": {"a": {"kind": "circle"}}, "time": {"stop": 1.0}}
    assert problems("sweep", right) == []
    assert problems("sweep", right | {"desing": {}}) == [""]
    assert problems("sweep", right | {"time": {"stop": -1.0}}) == ["time.stop"]
    assert problems("sweep", right | {"trajectories": {"a": {"kind": "circel"}}}) == ["trajectories.a.kind"]
    assert problems("sweep", right | {"design": {"grid": {"a": [1.0]}, "where": "a < 2"}}) == []
    assert problems("cluster", {"limbsweep": {"cluster": {"kind": "lokal"}}}) == ["limbsweep.cluster.kind"]
    assert problems("cluster", {"distributed": {"worker": {}}}) == []
    with pytest.raises(InputError, match=r"got 'sweeps'; expected a kind of file\. Did you mean 'sweep'"):
        schema("sweeps")


def test_files_that_are_written_name_their_schema(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    commands = (["new", "five_bar"], ["robots", "five_bar", "--export", "own.yaml"], ["new", "cluster"])
    names = ("sweep.yaml", "own.yaml", "cluster.yaml")
    for command, name, kind in zip(commands, names, ("sweep", "robot", "cluster"), strict=True):
        assert CliRunner().invoke(cli, command).exit_code == 0
        text = Path(name).read_text("utf-8")
        assert text.startswith(f"# yaml-language-server: $schema={kind}.schema.json\n")
        assert json.loads(Path(f"{kind}.schema.json").read_text("utf-8")) == schema(kind)
        assert problems(kind, loaded(text)) == []
    Path("sweep.schema.json").write_text("{}")
    assert CliRunner().invoke(cli, ["new", "five_bar", "--output", "second.yaml"]).exit_code == 0
    assert Path("sweep.schema.json").read_text("utf-8") == "{}"
    refused = CliRunner().invoke(cli, ["schema", "--output", "sweep.schema.json"])
    assert (refused.exit_code, "exists already" in refused.stderr) == (2, True)
