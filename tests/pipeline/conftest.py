from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.cluster.certificates import make_certificates


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a development set of TLS files, and the cluster file's section that names them."""
    pytest.importorskip("cryptography")
    folder = tmp_path_factory.mktemp("tls") / "set"
    text = make_certificates(folder)
    (folder / "section.yaml").write_text(text)
    return folder
