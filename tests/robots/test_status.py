from robots.status import ADVICE, Status, flags


def test_every_status_has_advice_and_a_code_that_fits_in_a_byte() -> None:
    assert set(ADVICE) == set(Status)
    assert all(ADVICE.values())
    assert list(flags().values()) == list(range(len(Status)))
    assert flags()["OK"] == 0
