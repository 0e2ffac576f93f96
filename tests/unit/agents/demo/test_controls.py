from __future__ import annotations

from flybridge.agents.demo.controls import context_usage
from flybridge.agents.demo.stream import CONTEXT_WINDOW
from tests.harness.agent_host import DEMO, Host, allow, kind


def test_a_waiting_message_can_be_taken_back() -> None:
    with Host() as host:
        host.prompt("tool", "u1")
        request = host.until(kind("control_request"))[-1]
        host.prompt("think", "u2")
        host.prompt("think", "u3")
        assert host.ask("cancel_async_message", message_uuid="u2")["response"] == {
            "cancelled": True
        }
        gone = host.ask("cancel_async_message", message_uuid="u1")["response"]
        assert gone == {"cancelled": False}  # it runs already
        host.answer(request["request_id"], behavior="deny", message="no")
        host.until(kind("command/completed"))
        assert host.until(kind("command/completed"))[-1]["command_uuid"] == "u3"


def test_a_job_in_the_background_can_be_stopped() -> None:
    with Host(speed="20") as host:
        host.prompt("background")
        request = host.until(kind("control_request"))[-1]
        host.answer(request["request_id"], **allow(request["request"]))
        started = host.until(kind("system/task_started"))[-1]
        host.request("stop_task", task_id=started["task_id"])
        stopped = host.until(kind("system/task_notification"))[-1]
    assert (stopped["task_id"], stopped["status"]) == (started["task_id"], "stopped")


def test_an_interrupt_at_rest_stops_what_runs_in_the_background() -> None:
    with Host(speed="20") as host:
        assert host.ask("interrupt")["response"] == {"still_queued": []}
        host.play("background", allow)
        host.request("interrupt")
        assert host.until(kind("system/task_notification"))[-1]["status"] == "stopped"


def test_the_context_is_told_in_numbers() -> None:
    with Host() as host:
        host.turn("long")
        told = host.ask("get_context_usage")["response"]
    assert told["maxTokens"] == CONTEXT_WINDOW
    assert 500 < told["totalTokens"] < 900
    assert sum(one["tokens"] for one in told["categories"]) == CONTEXT_WINDOW
    assert context_usage(2 * CONTEXT_WINDOW)["categories"][1]["tokens"] == 0


def test_the_introduction_names_models_agents_and_the_state() -> None:
    with Host(DEMO, "--permission-mode", "plan") as host:
        told = host.ask("initialize")["response"]
    assert [one["value"] for one in told["models"]] == ["default", "flybridge-demo-fast"]
    assert (told["current_permission_mode"], told["session_state"]) == ("plan", "idle")
    assert told["agents"]
