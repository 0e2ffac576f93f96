from __future__ import annotations

import stat

from tests.harness.terminal_home import STEADY, Home
from tests.unit.cli.test_attachments import PNG

LINES = {
    "/help": ("/rename TITLE", "the agent's own:", "//cost", "/think <about>"),
    "/model": ("model: flybridge-demo-fast", "Demo: Streams at the pace of a reader"),
    "/mode": ("mode: default; /mode NAME changes it",),
    "/context": ("░", "Messages", "Free space"),
    "/cost": ("· $0.0421 · 1 turn",),
    "/mcp": ("no MCP servers",),
    "/tasks": ("no tasks",),
    "/queue": ("nothing waits",),
    "/queue cancel 3": ("there is no number 3 in the queue",),
    "/thinking 4000": ("thinking: 4000 tokens",),
    "/mode plan": ("mode: plan", " · plan · "),
    "/attach none.png": ("cannot read none.png",),
    "/detach": ("nothing is attached",),
    "/sessions": ("DIRECTORY", "price"),
}


def test_every_line_of_ours_is_answered(home: Home) -> None:
    chat = home.demo()
    chat.say("price")
    chat.wait_for("nobody pays", "╌ flybridge-demo-fast · ")
    chat.wait_for_prompt()
    for line, texts in LINES.items():
        chat.say(line)
        chat.wait_for(*texts)


def test_tasks_are_listed_as_they_are(home: Home) -> None:
    chat = home.demo()
    chat.say("todos")
    chat.wait_for("Done with all of it.")
    chat.wait_for_prompt()
    chat.say("/tasks")
    chat.wait_for("· [x] Look at the old helm\n  [x] Build the new helm\n  [x] Try both at once")


def test_two_slashes_go_to_the_agent(home: Home) -> None:
    chat = home.demo()
    chat.say("//cost")
    chat.wait_for("> /cost", "Total cost:")


def test_what_is_queued_waits_below_and_can_be_changed(home: Home) -> None:
    chat = home.demo(agent=STEADY)
    chat.say("count")
    chat.wait_for("Esc interrupts", "\n  1")
    chat.say("/queue think of one")
    chat.wait_for("↳ waits (1): think of one")
    chat.say("/queue hello")
    chat.wait_for("↳ waits (2): hello")
    assert "\n> think of one" not in chat.seen
    chat.say("/queue edit 1 think of two")
    chat.wait_for("↳ waits (1): think of two")
    chat.say("/queue cancel 2")
    chat.wait_until(lambda seen: "waits (2)" not in seen, "a shorter queue")
    chat.say("/queue edit 1")
    chat.wait_for("> /queue edit 1 think of two")
    chat.type("\x15\x1b")
    seen = chat.wait_for("\n> think of two", "two helms, one rudder")
    assert seen.index("─ interrupted") < seen.index("\n> think of two")
    assert "Hello from" not in seen


def test_a_picture_goes_with_the_message(home: Home) -> None:
    (home.work / "a b.png").write_bytes(PNG)
    chat = home.demo()
    chat.say("/attach a b.png")
    chat.wait_for("↳ attached: a b.png, 12 bytes")
    chat.say("see?")
    chat.wait_for("> [image/png, 12 bytes]\n  see?", "Thank you, I see:")
    chat.wait_until(lambda seen: "↳" not in seen, "nothing attached")
    chat.type(f"\x1b[200~'{home.work}/a b.png'\x1b[201~")
    chat.wait_for(f'> @"{home.work}/a b.png"')
    chat.type("\r")
    chat.wait_until(lambda seen: seen.count("Thank you, I see:") == 2, "a second picture")
    chat.say("/attach a b.png")
    chat.wait_for("↳ attached")
    chat.say("/detach")
    chat.wait_for("taken off again")


def test_a_picture_on_the_command_line_goes_with_the_first_message(home: Home) -> None:
    (home.work / "p.png").write_bytes(PNG)
    done = home.run("chat", "--agent", "demo", "--attach", "p.png", stdin="see")
    assert "Thank you, I see:" in done.stdout
    assert home.run("chat", "--attach", "none.png", stdin="see").returncode == 2


def test_a_conversation_is_exported_from_the_chat(home: Home) -> None:
    chat = home.demo()
    chat.say("think")
    chat.wait_for("two helms")
    chat.wait_for_prompt()
    chat.say("/export out.md")
    chat.wait_for("written to out.md, ")
    assert "two helms, one rudder" in (home.work / "out.md").read_text()
    assert stat.S_IMODE((home.work / "out.md").stat().st_mode) == 0o600
    chat.say("/export out.md")
    chat.wait_for("out.md exists already: choose another name")


def test_an_answer_of_ours_does_not_tear_the_agents_sentence(home: Home) -> None:
    chat = home.demo(agent=STEADY)
    chat.say("long")
    chat.wait_for("2. This is line 2")
    chat.say("/cost")
    chat.wait_for("no cost was told")
    seen = chat.wait_for("That was all of it.", "\n─ ")
    for n in range(1, 22):
        assert f"  {n}. This is line {n} of a long answer that says little on purpose" in seen
