"""Sections G and H: the command line and its paths, and stores."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from tests.bad_inputs.rows import SYNCHRONOUS, Row, called, edit


def _foreign(patch: pytest.MonkeyPatch) -> None:
    Path("out.zarr").mkdir()
    Path("out.zarr", "thesis.txt").write_text("years of work")


def _file(patch: pytest.MonkeyPatch) -> None:
    Path("out.zarr").write_text("a file")


def _repository(patch: pytest.MonkeyPatch) -> None:
    Path("out.zarr", ".git").mkdir(parents=True)


def _link_to_thesis(patch: pytest.MonkeyPatch) -> None:
    Path("work").mkdir()
    Path("work", "thesis.txt").write_text("years of work")
    Path("out.zarr").symlink_to("work")


def _link_to_nothing(patch: pytest.MonkeyPatch) -> None:
    Path("out.zarr").symlink_to("nowhere")


def _read_only(patch: pytest.MonkeyPatch) -> None:
    Path("c.yaml").write_text(SYNCHRONOUS["c.yaml"])

    def refuse(path: Path, *given: object, **options: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))

    patch.setattr(Path, "mkdir", refuse)


def _root(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("os.geteuid", lambda: 0)


SSH = "limbsweep: {cluster: {kind: ssh, options: {hosts: [localhost, localhost]}}}\n"
RUN = "run sweep.yaml --store"

ROWS = (
    called("G01", "", "Usage: limbsweep [OPTIONS] COMMAND", "Missing command"),
    called("G02", "run sweep.yaml --stor x", "No such option", "--store"),
    called("G02 command", "chekc sweep.yaml", "no command 'chekc'; did you mean 'check'?"),
    called("G03", "run sweep.yaml --clust c.yaml", "No such option"),
    called("G04", "show delta_3rr2rrr --set upper_arm=abc", "--set: got 'upper_arm=abc'; expected NAME=VALUE"),
    called("G05", "show delta_3rr2rrr --set uper_arm=1", "did you mean 'upper_arm'?"),
    called("G20", "code delta", "unknown robot 'delta'"),
    called("G20 function", "code five_bar --function jacobi", "functions: got 'jacobi'", "inverse_dynamics"),
    called("G20 name", "code five_bar --output five-bar.c", "name: got 'five-bar'; expected a name of C"),
    called("G20 suffix", "code five_bar --output five_bar.h", "got 'five_bar.h'; expected a file name that ends in .c"),
    called("G20 gravity", "code five_bar --gravity 0 0 nan", "gravity: got [0.0, 0.0, nan]; expected finite numbers"),
    called("G08", f"{RUN} out.zarr", "out.zarr", prepare=_foreign),
    called("G09", f"{RUN} /", "/"),
    called("G09 here", f"{RUN} .", "not a store of limbsweep"),
    called("G09 above", f"{RUN} ..", "not a store of limbsweep"),
    called("G09 file", f"{RUN} out.zarr", "out.zarr", prepare=_file),
    called("G09 repository", f"{RUN} out.zarr", "not a store of limbsweep", prepare=_repository),
    Row(
        "G10",
        ("turn.file: got '../../x'; expected a file in the folder",),
        edit("kind: circle, phase: 1", "kind: waypoints, file: ../../x"),
    ),
    *(
        Row(f"G12 {name!r}", ("trajectories.", "starting with a letter, at most 80"), edit("turn:", f'"{name}":'))
        for name in ("a/b", "a\\\\b", "a\\nb", "-a", "x" * 300, ".a")
    ),
    called("G12 long", f"{RUN} {'x' * 300}.zarr", "--store: got 'xxx", "expected a name of at most 200 bytes"),
    called("G12 dash", "run sweep.yaml --store=-x", "--store: got '-x'; expected a name that is not like an option"),
    called("G12 dot", f"{RUN} out.", "--store: got 'out.'; expected a name without a dot or a space at its end"),
    called("G12 control", f"{RUN} out\x07.zarr", "--store: got 'out\\x07.zarr'; expected a name of visible characters"),
    called("G11", f"{RUN} out.zarr", "out.zarr: not a store of limbsweep", prepare=_link_to_thesis),
    called("G11 nowhere", f"{RUN} out.zarr", "out.zarr: there is no store", prepare=_link_to_nothing),
    *(
        called(f"G14 {name}", f"{RUN} {url}", said)
        for name, url, said in (
            ("no bucket", "s3://", "s3:// names no bucket; expected s3://bucket/path"),
            ("no bucket but a path", "s3:///x", "names no bucket"),
            ("a key", "s3://AKIA123:hunter2@b/x", "a URL of s3:// holds more than a bucket and a path"),
            ("options", "s3://b/x?token=hunter2", "a URL of s3:// holds more than a bucket and a path"),
            ("a chain", "simplecache::s3://b/x", "is a chain of protocols; expected one"),
            ("nothing", "file://", "file://: got a URL without an absolute path; expected file:///folder/name"),
            ("a host", "file://x/y", "got a URL without an absolute path"),
            (
                "another",
                "foo://b/x",
                "foo://b/x: cannot be opened",
            ),
            ("a page", "https://example.org/x", "https:// cannot hold a store; expected a folder, or object storage"),
        )
    ),
    called("G14 info", "info s3://AKIA123:hunter2@b/x", "holds more than a bucket and a path"),
    called(
        "G19",
        f"{RUN} out.zarr --cluster c.yaml",
        "Read-only file system; check free space and permissions",
        prepare=_read_only,
    ),
    Row(
        "G20",
        ("warning: c.yaml limbsweep.cluster.kind: got root as the user who runs it; expected a user without",),
        files={"c.yaml": SSH},
        command=("cluster", "c.yaml"),
        status=0,
        prepare=_root,
    ),
    called("G15", "run sweep.yaml --workers -3", "No such option"),
    called("G16", "run sweep.yaml --resume", "No such option"),
    called("G subset", "run sweep.yaml --subset small", "subset: got 'small'", "There is no section subsets."),
    called("H01", "info nowhere.zarr", "nowhere.zarr: there is no store"),
    called("H01 foreign", "info out.zarr", "out.zarr", prepare=_foreign),
)
