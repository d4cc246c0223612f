from robots.status import ADVICE, Status, flags


def test_every_status_has_advice_and_a_code_that_fits_in_a_byte() -> None:
    assert set(ADVICE) == set(Status)
    assert all(ADVICE.values())
    assert list(flags(simulated=True, counted=True).values()) == list(range(Status.ACTUATOR_LIMIT))
    assert flags()["OK"] == 0
    assert flags(simulated=True).keys() - flags().keys() == {
        "DIVERGED",
        "FRICTION_NO_SOLUTION",
        "FRICTION_SEVERAL_SOLUTIONS",
    }
    assert flags(counted=True).keys() - flags().keys() == {"TURNS_UNKNOWN"}
