from pipeline.execution.preparation import lazy
from pipeline.execution.run import compute, run, submit
from pipeline.stores.append import append
from pipeline.stores.verify import verify
from pipeline.sweep.model import Sweep
from pipeline.sweep.user_metrics import UserMetric

__all__ = ["Sweep", "UserMetric", "append", "compute", "lazy", "run", "submit", "verify"]
