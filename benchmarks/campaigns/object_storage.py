"""Runs into object storage that go wrong: kills, credentials, throttling, lost answers, two runs at once, bad hints.

A server of S3 on this machine (moto, extra `test-s3`) makes the mistakes, each a row of `STEPS`; runs are processes of
their own, and one line says how each ended. Exit status 1 where a store differs from one in a folder, or where a
message gives the wrong advice: `python -m benchmarks.campaigns.object_storage [--kills 20] [--blocks 12] [--only STEP
...] [--seed N]`.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import fsspec

from applications.commands.cli import main as command
from benchmarks.campaigns.chaos import Campaign, content
from benchmarks.campaigns.hand_started import free_port
from benchmarks.campaigns.lines import print_lines
from benchmarks.campaigns.object_server import KEY, Faults, server, variables
from benchmarks.processes import environment
from pipeline.cluster.connection import ClusterConfig
from pipeline.execution.run import run
from pipeline.stores.verify import verify

SELF = "benchmarks.campaigns.object_storage"
DESIGNS, BUCKET = 2, "campaign"
REFUSED = 2
"""Exit status of a command that is refused."""

SECONDS = 240.0
"""Time until a run has ended, at most [s]."""

SHARE = 0.15
"""Share of requests that are refused, and of uploads whose answers are lost."""


@dataclass(frozen=True)
class Ended:
    """End of a process: its status, 0 where it has finished the store, its standard error, requests."""

    status: int
    said: str
    requests: int = 0

    @property
    def line(self) -> str:
        """The last line that it said."""
        return self.said.strip().splitlines()[-1] if self.said.strip() else ""


@dataclass
class Service:
    """A server with its faults, the sweep, the result of an undisturbed run, and lines of the step."""

    folder: Path
    campaign: Campaign
    expected: str
    endpoint: str
    faults: Faults
    kills: int
    said: list[str] = field(default_factory=list)

    def url(self, name: str) -> str:
        """Return the URL of a store in the bucket of the campaign."""
        return f"s3://{BUCKET}/{name}.zarr"

    def start(self, url: str, key: str = KEY, endpoint: str = "") -> subprocess.Popen[str]:
        """Start a run in a process of its own; without a key the process finds no credentials."""
        ours = environment(PYTHONPATH=str(Path(__file__).parents[2]), **variables(endpoint or self.endpoint, key))
        if not key:
            ours |= {"AWS_EC2_METADATA_DISABLED": "true", "HOME": str(self.folder)}
            for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
                del ours[name]
        words = ("--victim", url, "--blocks", str(self.campaign.blocks))
        return subprocess.Popen(
            [sys.executable, "-m", SELF, *words],
            env=ours,
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, url: str, key: str = KEY, endpoint: str = "") -> Ended:
        """Run to the end."""
        before = self.faults.requests
        return replace(ended(self.start(url, key, endpoint)), requests=self.faults.requests - before)

    def finish(self, name: str) -> int:
        """Run a store to its end and compare it; return the requests of the run. Raises AssertionError."""
        end = self.run(self.url(name))
        assert end.status == 0, f"{name}: {end.said}"
        self.compare(name)
        return end.requests

    def compare(self, name: str) -> None:
        """Compare a store with the undisturbed one, and check all of it. Raises AssertionError."""
        url = self.url(name)
        assert content(url) == self.expected, f"{name}: the store differs from an undisturbed one"
        assert verify(url).is_sound, f"{name}: the store is not sound"


def ended(process: subprocess.Popen[str]) -> Ended:
    """Wait for the end of a process."""
    try:
        _, said = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        raise AssertionError(f"a run has not ended within {SECONDS:g} s") from None
    return Ended(process.returncode, said)


Step = Callable[[Service], None]


def undisturbed(service: Service) -> None:
    """Run without faults."""
    service.said.append(f"{service.finish('whole')} requests")


def kills(service: Service) -> None:
    """Kill -9 at points spread over the requests of a run, before and after each in turn, then go on."""
    total, dead = service.finish("counted"), 0
    for number in range(service.kills):
        name, faults = f"killed-{number}", service.faults
        process = service.start(service.url(name))
        faults.kill, faults.kill_before = process.kill, number % 2 == 0
        faults.kill_at = faults.requests + 1 + (2 * number + 1) * total // (2 * service.kills)
        dead += ended(process).status < 0
        faults.kill_at = 0
        service.finish(name)
    service.said.append(f"{dead} deaths at {service.kills} points of {total} requests")


def throttled(service: Service) -> None:
    """Run while requests are refused by chance."""
    service.faults.share = SHARE
    service.finish("throttled")
    service.said.append(f"{service.faults.done} requests of {service.faults.requests} refused")


def lost_answers(service: Service) -> None:
    """Run while uploads are done, but their answers are lost."""
    service.faults.lost_share = SHARE
    service.finish("lost")
    service.said.append(f"{service.faults.done} answers lost")


def wrong_credentials(service: Service) -> None:
    """Run with a key that the service does not know."""
    _refused(service, service.run(service.url("wrong"), key="other"), "check the credentials")


def expired_credentials(service: Service) -> None:
    """Let credentials expire at five points of a run; with new ones it continues."""
    total = service.finish("valid")
    for number in range(5):
        service.faults.valid = 1 + (2 * number + 1) * total // 10
        _refused(service, service.run(service.url(f"expired-{number}")), "renew the credentials")
        service.faults.valid = -1
        service.finish(f"expired-{number}")


def two_runs(service: Service) -> None:
    """Begin two runs at the same time: one continues, the other is refused."""
    url = service.url("two")
    ends = sorted((ended(each) for each in [service.start(url), service.start(url)]), key=lambda end: end.status)
    assert ends[0].status == 0, ends
    if ends[1].status:
        assert "another run" in ends[1].said or "exists already" in ends[1].said, ends[1].said
        service.said.append(ends[1].line)
    service.compare("two")


def hints(service: Service) -> None:
    """Run with a missing bucket, an endpoint without a server, and no credentials."""
    _refused(service, service.run(f"s3://{uuid.uuid4().hex}/a.zarr"), "make the bucket first")
    dead = f"http://127.0.0.1:{free_port()}"
    _refused(service, service.run(service.url("dead"), endpoint=dead), "check the address of the service")
    _refused(service, service.run(service.url("nobody"), key=""), "give credentials")


STEPS: Mapping[str, Step] = {
    step.__name__.replace("_", "-"): step
    for step in (
        undisturbed, kills, throttled, lost_answers, wrong_credentials, expired_credentials, two_runs, hints,
    )
}  # fmt: skip


def _refused(service: Service, end: Ended, advice: str) -> None:
    """Require one line with an advice, as of a command that is refused. Raises AssertionError."""
    assert end.status == REFUSED, f"exit status {end.status}; expected {REFUSED}: {end.said}"
    assert advice in end.said, f"no {advice!r} in: {end.said}"
    assert "Traceback" not in end.said, end.said
    service.said.append(f"{end.line!r}")


def line(name: str, folder: Path, campaign: Campaign, expected: str, kills: int) -> str:
    """Make a step with a server of its own, and return its line. Raises AssertionError."""
    faults, start = Faults(chance=random.Random(campaign.seed)), time.monotonic()
    with server(faults) as endpoint:
        os.environ |= variables(endpoint)
        fsspec.filesystem("s3").clear_instance_cache()
        fsspec.filesystem("s3").mkdirs(BUCKET, exist_ok=True)
        service = Service(folder, campaign, expected, endpoint, faults, kills)
        STEPS[name](service)
    said = f"; {'; '.join(service.said)}" if service.said else ""
    return f"{name}: {time.monotonic() - start:.0f} s{said}"


def steps(folder: Path, campaign: Campaign, names: Sequence[str], kills: int) -> Iterator[str]:
    """Yield a line for each step. Raises AssertionError where one fails."""
    store = folder / "alone.zarr"
    (folder / "sweep.yaml").write_text(campaign.text, encoding="utf-8")
    (folder / "threads.yaml").write_text("limbsweep: {cluster: {kind: threads}}\n", encoding="utf-8")
    run(campaign.sweep(), store, ClusterConfig.of("threads", threads_per_worker=2), granularity="block")
    expected = content(store)
    for name in names:
        yield line(name, folder, campaign, expected, kills)


def _victim(campaign: Campaign, url: str) -> None:
    """Run the sweep of the current folder as the command does."""
    campaign.sweep()  # which cuts blocks
    sys.argv = ["limbsweep", "run", "sweep.yaml", "--store", url, "--cluster", "threads.yaml"]
    command()


def main(words: list[str] | None = None) -> int:
    """Make the steps; 1 where one fails."""
    parser = argparse.ArgumentParser(prog=f"python -m {SELF}", description=__doc__)
    parser.add_argument("--blocks", type=int, default=12)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--only", nargs="+", choices=list(STEPS), default=list(STEPS))
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    parser.add_argument("--victim")
    options = parser.parse_args(words)
    campaign = Campaign(options.blocks, DESIGNS, options.seed)
    if options.victim:
        _victim(campaign, options.victim)
        return 0
    print(f"seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="limbsweep-objects-") as folder:
        return print_lines(steps(Path(folder), campaign, options.only, options.kills))


if __name__ == "__main__":
    sys.exit(main())
