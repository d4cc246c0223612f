"""Job scripts are held to the grammar that batch systems document, and so are the options that make them."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.cluster.connection import preview
from pipeline.cluster.file import parse_cluster
from pipeline.cluster.job_scripts import GRAMMARS, faults
from pipeline.documents.yaml import parse_yaml
from pipeline.errors import InputError
from tests.pipeline.cluster.test_arguments import QUEUES, example

LONG = {"slurm": "'2-02:00:00'", "pbs": "'50:00:00'", "lsf": "'50:00'", "sge": "'50:00:00'", "oar": "'50:00:00'"}
NEXT_LINE = 'queue: "a\\n#SBATCH --uid=0"'


def script(kind: str, options: str) -> str:
    section = f"jobqueue: {{{kind}: {{cores: 3, memory: 3.5GB, {options}}}}}"
    return preview(
        parse_cluster(parse_yaml(f"limbsweep: {{cluster: {{kind: {kind}, insecure: true}}}}\n{section}\n", "c"))
    )


@pytest.mark.parametrize("name", QUEUES)
def test_scripts_of_the_examples_are_well_formed(name: str, certificates: Path) -> None:
    pytest.importorskip("dask_jobqueue")
    assert list(faults(name, preview(example(name, certificates)))) == []


@pytest.mark.parametrize("kind", LONG)
@pytest.mark.filterwarnings("ignore:OAR Job memory")
def test_options_come_through_and_a_line_that_the_queue_would_refuse_is_refused_here(kind: str) -> None:
    pytest.importorskip("dask_jobqueue")
    extra = "--exclusive" if kind == "slurm" else "-x"
    made = script(kind, f"walltime: {LONG[kind]}, queue: long, job-extra-directives: ['{extra}']")
    assert f"{GRAMMARS[kind].prefix} {extra}" in made.splitlines()
    for options, words in (
        ("name: my job", "'.* my job' in the script of a job; expected a value of"),
        ("job-extra-directives: [rm -rf]", "rm -rf' in the script of a job; expected an option such as"),
        (NEXT_LINE, "queue: got several lines; expected one line"),
        ("walltime: '1:2:3:4'", "walltime: got '1:2:3:4'; expected a time as"),
    ):
        with pytest.raises(InputError, match=words):
            script(kind, options)


@pytest.mark.parametrize("kind", ["pbs", "sge", "oar"])
def test_days_are_for_slurm_alone(kind: str) -> None:
    pytest.importorskip("dask_jobqueue")
    with pytest.raises(InputError, match="walltime: got '1-02:00:00'; expected a time as HH:MM:SS"):
        script(kind, "walltime: '1-02:00:00'")


@pytest.mark.parametrize(
    ("kind", "line", "expected"),
    [
        ("slurm", "#SBATCH --mem=30GB", "a value of --mem as the manual has it"),
        ("slurm", "#SBATCH -t 1 hour", "a value of -t as the manual has it"),
        ("pbs", "#PBS -l select=1:ncpus=2:mem=4GB,walltime=90:00", "a value of walltime as the manual has it"),
        ("pbs", "#PBS -l select=one", "a value of select as the manual has it"),
        ("moab", "#PBS -l select=one", "a value of select as the manual has it"),
        ("lsf", "#BSUB -W 02:00:00", "a value of -W as the manual has it"),
        ("lsf", '#BSUB -R "span[hosts=1]', "a value of -R as the manual has it"),
        ("sge", "#$ -l h_vmem=2GB", "a value of h_vmem as the manual has it"),
        ("sge", "#$ -pe smp", "a value of -pe as the manual has it"),
        ("oar", "#OAR -l /nodes=1,walltime=1-0:0:0", "a value of walltime as the manual has it"),
        ("slurm", "cd /scratch\n#SBATCH -n 1", "directives before the first command"),
        ("htcondor", "RequestCpus 4\nQueue", "NAME = VALUE, or Queue"),
        ("htcondor", "RequestCpus = 4", "the command Queue at the end"),
    ],
)
def test_lines_that_a_batch_system_does_not_understand(kind: str, line: str, expected: str) -> None:
    assert [rule for _, rule in faults(kind, f"#!/bin/sh\n\n{line}\n")] == [expected]


def test_a_script_without_known_directives_is_not_judged() -> None:
    assert list(faults("cobalt", "#!/bin/sh\n#COBALT -t 60\ncd /scratch\n")) == []
