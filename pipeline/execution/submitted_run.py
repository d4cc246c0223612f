"""The run in the process of a submitted run, imported when its turn has come."""

from __future__ import annotations

from pipeline.errors import InputError, RunCancelledError, RunStoppedError
from pipeline.execution.processes.signals import exit_status
from pipeline.execution.run import run
from pipeline.execution.run_request import RunRequest
from pipeline.monitor.progress import LineProgress
from pipeline.monitor.samples import failed_samples
from pipeline.monitor.status import failed_cases, status
from storage import open_results
from storage.errors import StoreError


def complete(request: RunRequest) -> int:
    """Run a request, print its progress and failures, and return the exit status of `limbsweep run`."""
    try:
        run(
            request.sweep,
            request.store,
            request.cluster,
            [LineProgress(lambda text: print(text, flush=True))],
            request.granularity,
        )
    except (InputError, StoreError) as error:
        print(error)
        return 2
    except KeyboardInterrupt as error:
        print(str(error) or "interrupted")
        return exit_status(error)
    except RunStoppedError as error:
        print(error)
        return 130 if isinstance(error, RunCancelledError) else 1
    failed = failed_samples(open_results(request.store, unfinished=True))
    for line in failed.lines():
        print(line)
    is_whole = status(request.store).state == "finished" and not failed_cases(request.store)
    return int(not is_whole or failed.all_failed)
