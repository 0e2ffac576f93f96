"""Kill the agent, its keeper, the gateway, and pairs of them, in every phase of a session."""

from __future__ import annotations

import random

import pytest

from tests.crash.evidence import Client, send_input
from tests.crash.phases import PHASES, Scene
from tests.crash.rig import Life, Rig

VICTIMS: list[tuple[str, ...]] = [
    ("gateway",),
    ("agent",),
    ("keeper",),
    ("agent", "keeper"),
    ("keeper", "agent"),
    ("gateway", "agent"),
    ("agent", "gateway"),
    ("gateway", "keeper"),
    ("keeper", "gateway"),
]
RECOVERIES = 5
FIRST_EPOCH = 1


def kill(rig: Rig, victims: tuple[str, ...], life: Life | None) -> None:
    for victim in victims:
        if victim == "gateway":
            rig.kill_gateway()
        elif life is not None and victim == "agent":
            rig.kill_agent(life)
        elif life is not None:
            rig.kill_keeper(life)


def go_on(rig: Rig, client: Client, victims: tuple[str, ...]) -> Client:
    """The client that serves from here on."""
    if "gateway" not in victims:
        return client
    client.close()
    return rig.start()


def answer_prompts(client: Client, scene: Scene) -> None:
    """What is still open after all that is answerable, and the answer arrives."""
    for prompt in list(client.transcripts[scene.session].prompts):
        scene.client = client
        reply = client.carry_out(scene.session, f"{scene.name}.later", scene.prompt())
        assert reply.stage == "done", f"{prompt}: {reply}"


def use_again(rig: Rig, client: Client, scene: Scene) -> None:
    """The session takes input again, whatever was done to it."""
    request = f"{scene.name}.again"
    reply = client.carry_out(scene.session, request, send_input(request, {"say": "still here"}))
    assert reply.stage == "done", reply


def enter_all(rig: Rig, client: Client) -> list[Scene]:
    """One session in each phase; the short ones last, so that they are not over too soon."""
    scenes = []
    for phase in sorted(PHASES, key=lambda one: one in ("streaming", "answered", "ending")):
        if phase != "starting":
            scenes.append(Scene(rig, client, phase))
            PHASES[phase](scenes[-1])
    return [*scenes, Scene(rig, client, "starting")]


@pytest.mark.parametrize("phase", PHASES)
def test_whoever_dies_in_any_phase_every_promise_holds(rig: Rig, phase: str) -> None:
    client = rig.start()
    for number, victims in enumerate(VICTIMS):
        scene = Scene(rig, client, f"{phase}{number}")
        PHASES[phase](scene)
        at_once = phase == "starting" and victims == ("gateway",)
        life = None if at_once else rig.life(scene.session)
        kill(rig, victims, life)
        scene.open_gate()
        client = go_on(rig, client, victims)
        if victims == ("gateway",):
            client.until_status(scene.session, "off", "idle", "running")
            answer_prompts(client, scene)
        else:
            client.until_status(scene.session, "off")
        rig.settle(client)
        use_again(rig, client, scene)
    verdict = rig.finish(client)
    assert verdict.broken == []
    if phase == "unread":  # proven by the keeper: written, and never read
        assert verdict.counts["message lost"] >= 1


@pytest.mark.sample
def test_a_gateway_that_dies_alone_leaves_nothing_unknown(rig: Rig) -> None:
    client = rig.start()
    for phase, enter in PHASES.items():
        scene = Scene(rig, client, phase)
        enter(scene)
        rig.kill_gateway()
        scene.open_gate()
        client = go_on(rig, client, ("gateway",))
        client.until_status(scene.session, "off", "idle", "running")
        answer_prompts(client, scene)
    verdict = rig.finish(client)
    assert verdict.broken == []
    counts = verdict.counts
    assert not [name for name in counts if "unknown" in name or "lost" in name], counts
    assert counts["message done"] >= len(PHASES) - 1


def test_after_a_reboot_nothing_of_the_old_boot_is_touched_or_believed(rig: Rig) -> None:
    client = rig.start()
    scenes = enter_all(rig, client)
    client.close()
    rig.reboot("another-boot")
    client = rig.start()
    rig.settle(client)
    for scene in scenes:
        client.until_status(scene.session, "off")
        use_again(rig, client, scene)
        assert client.transcripts[scene.session].epoch == FIRST_EPOCH + 1
    assert rig.finish(client).broken == []


@pytest.mark.parametrize("seed", range(3))
def test_a_recovery_that_is_killed_five_times_is_no_different(rig: Rig, seed: int) -> None:
    chance = random.Random(seed)
    client = rig.start()
    scenes = enter_all(rig, client)
    rig.kill_gateway()
    client.close()
    for _ in range(RECOVERIES):
        rig.launch()
        rig.wait_gateway(chance.uniform(0.1, 0.5))
        rig.kill_gateway()
    finish_all(rig, scenes)


@pytest.mark.strace
@pytest.mark.parametrize("call", ["pwrite64", "connect", "sendto", "fdatasync", "epoll_wait"])
def test_a_recovery_killed_at_its_own_calls_is_no_different(rig: Rig, call: str) -> None:
    client = rig.start()
    scenes = enter_all(rig, client)
    rig.kill_gateway()
    client.close()
    for nth in (1, 2, 4, 9, 16):
        trace = ["-e", f"trace={call}", "-e", f"inject={call}:signal=KILL:when={nth}"]
        rig.launch(under=["strace", "-D", "-o", "/dev/null", *trace])
        rig.wait_gateway(1.5)
        rig.kill_gateway()
    finish_all(rig, scenes)


def finish_all(rig: Rig, scenes: list[Scene]) -> None:
    """Let the gateway start at last, and everything go its way."""
    client = rig.start()
    for scene in scenes:
        scene.open_gate()
        client.until_status(scene.session, "off", "idle", "running")
    rig.settle(client, but=("permission",))
    for scene in scenes:
        answer_prompts(client, scene)
    verdict = rig.finish(client)
    assert verdict.broken == []
    assert not [name for name in verdict.counts if "unknown" in name], verdict.counts
