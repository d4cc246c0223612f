import subprocess
import sys

from tests.waiting import PATIENCE

PLANNING = """
import sys
import storage.ledger, storage.layout, storage.places.lock, storage.manifest
slow = {"zarr", "xarray", "dask", "distributed", "pandas"} & set(sys.modules)
sys.exit(f"loaded {slow}" if slow else 0)
"""


def test_planning_and_status_do_not_wait_for_zarr() -> None:
    subprocess.run([sys.executable, "-c", PLANNING], check=True, timeout=PATIENCE)
