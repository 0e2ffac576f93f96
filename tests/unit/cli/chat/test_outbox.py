from __future__ import annotations

from tests.harness.terminal_home import Home


def test_what_the_gateway_refuses_comes_back_into_the_line(home: Home) -> None:
    chat = home.demo()
    home.run("sessions", "kill", home.session())
    title = "x" * 201
    chat.say(f"/rename {title}")
    chat.wait_for("a title has at most 200 characters (invalid_request)")


def test_lines_arrive_in_the_order_they_were_typed(home: Home) -> None:
    chat = home.chat("--agent", "recorder")
    chat.wait_for_prompt()
    chat.type("".join(f"number {n}\r" for n in range(5)))
    chat.wait_until(lambda seen: seen.count("ok: number") == 5, "all answers")
    said = [
        one["event"]["content"][0]["text"]
        for one in home.events(home.session())
        if one["event"]["type"] == "input.accepted"
    ]
    assert said == [f"number {n}" for n in range(5)]


def test_a_file_that_cannot_go_along_gives_the_line_back(home: Home) -> None:
    (home.work / "x.png").write_text("no picture")
    chat = home.demo()
    chat.say("look at @x.png")
    chat.wait_for("x.png is neither a PNG", "\n> look at @x.png")
