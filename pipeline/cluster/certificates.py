"""Make a development set of TLS certificates: an authority and one key pair for client, scheduler and workers.

The authority's own key is thrown away, so no further certificates can be made that the set would trust; to renew, make
a new set. `pipeline.cluster.kinds` tries the files.
"""

from __future__ import annotations

import datetime
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.errors import refused
from robots.extras import require_extra
from storage.inside import store_around

if TYPE_CHECKING:
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

NAMES = ("ca.pem", "cert.pem", "key.pem")
DAYS = 90
MAX_DAYS = 3650
_SKEW = datetime.timedelta(hours=1)


def make_certificates(folder: str | os.PathLike[str], days: int = DAYS) -> str:
    """Write `ca.pem`, `cert.pem` and `key.pem`; the section of a cluster file that names them, as YAML.

    Files have mode 0600, a folder that is made has 0700. Raises InputError where a file exists already, where the
    folder cannot be written, and where the package `cryptography` is not installed; then nothing is written.
    """
    place = Path(folder).absolute()
    if not 1 <= days <= MAX_DAYS:
        raise refused("--days", str(days), f"1 to {MAX_DAYS} days")
    if store := store_around(place / NAMES[0]):
        raise refused(str(place), f"a folder of the store {store}", "a folder outside of stores", "Name another one.")
    if there := [name for name in NAMES if os.path.lexists(place / name)]:
        raise refused(str(place / there[0]), "a file that exists already", "a new file", "Name another folder.")
    contents = _make(days)
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name in NAMES:
            _write_new(place / name, contents[name])
    except OSError as error:
        if place.exists() and not place.is_dir():
            raise refused(str(place), "a file", "a folder that can be written", "Name another one.") from None
        raise refused(str(place), error.strerror or type(error).__name__, "a folder that can be written") from None
    return _section(place)


def _make(days: int) -> Mapping[str, bytes]:
    """Return the three files: PEM, elliptic-curve keys on P-256."""
    require_extra("cryptography")
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    authority, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    pem, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    return {
        "ca.pem": _certificate(authority, authority, days, authority=True).public_bytes(pem),
        "cert.pem": _certificate(key, authority, days, authority=False).public_bytes(pem),
        "key.pem": key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain),
    }


def _certificate(
    key: EllipticCurvePrivateKey, issuer: EllipticCurvePrivateKey, days: int, *, authority: bool
) -> x509.Certificate:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes

    now = datetime.datetime.now(datetime.UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(_name("limbsweep authority" if authority else "limbsweep cluster"))
        .issuer_name(_name("limbsweep authority"))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        # Clocks of the machines of a cluster differ a little.
        .not_valid_before(now - _SKEW)
        .not_valid_after(now + datetime.timedelta(days=days))
        .add_extension(x509.BasicConstraints(ca=authority, path_length=0 if authority else None), critical=True)
        .add_extension(_usage(authority), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer.public_key()), critical=False)
    )
    if not authority:
        builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName("limbsweep")]), critical=False)
    return builder.sign(issuer, hashes.SHA256())


def _name(common: str) -> x509.Name:
    from cryptography import x509

    return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, common)])


def _usage(authority: bool) -> x509.KeyUsage:
    from cryptography import x509

    return x509.KeyUsage(
        digital_signature=not authority,
        key_cert_sign=authority,
        crl_sign=authority,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _write_new(path: Path, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(descriptor)


def _section(place: Path) -> str:
    import json

    # A JSON string is a YAML string, whatever is in the path.
    ca, cert, key = (json.dumps(str(place / name), ensure_ascii=False) for name in NAMES)
    pairs = [f"      {role}: {{cert: {cert}, key: {key}}}" for role in ("client", "scheduler", "worker")]
    return "\n".join(["distributed:", "  comm:", "    tls:", f"      ca-file: {ca}", *pairs, ""])
