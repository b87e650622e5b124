from adapters.loopback.fault import Failure, FaultPlan


def test_faults_are_used_once_each_in_order_and_by_method() -> None:
    plan, busy, gone = FaultPlan(), Failure(error="busy"), Failure(error="gone")
    plan.fail("post", busy, times=2)
    plan.fail("post", gone)
    plan.delay("post", 1.5)
    assert plan.next_failure("edit") is None
    assert [plan.next_failure("post") for _ in range(4)] == [busy, busy, gone, None]
    assert [plan.next_delay("post") for _ in range(2)] == [1.5, 0.0]
