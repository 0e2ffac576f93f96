"""Which scene is played for which prompt: the registry, and the menu that is read off it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Literal, NamedTuple, TypeAlias

from flybridge.agents.demo.blocks import Say, Think
from flybridge.agents.demo.scenes import asking, gallery, inside, large, talk, team, trouble, work
from flybridge.agents.demo.turn import Turn

Play: TypeAlias = Callable[[Turn, str], Awaitable[None]]
Rest: TypeAlias = Literal["", "word", "words"]


class Scene(NamedTuple):
    """One thing to try. ``rest``: what may follow the name."""

    name: str
    group: str
    about: str
    play: Play
    hint: str = ""
    rest: Rest = ""
    aliases: tuple[str, ...] = ()
    local: bool = False  # a command of the CLI's own: no model is asked


async def play(turn: Turn) -> None:
    """Play the scene the prompt asks for; a prompt nobody planned for gets the greeting."""
    if turn.message.origin is not None:
        turn.begin()
        await turn.respond(Say(turn.message.text))
        return
    scene, rest = find(turn)
    if scene is not None and scene.local:
        await scene.play(turn, rest)
        return
    await inside.compact_if_full(turn)
    turn.begin()
    await (greet if scene is None else scene.play)(turn, rest)


def find(turn: Turn) -> tuple[Scene | None, str]:
    """The scene, and what followed its name."""
    prompt = turn.message.text.strip()
    name = prompt.removeprefix("/")
    first, _, rest = name.partition(" ")
    rest = rest.strip()
    for scene in SCENES:
        names = (scene.name, *scene.aliases)
        if name.casefold() in names:
            return scene, ""
        if first.casefold() in names and (
            scene.rest == "words" or (scene.rest == "word" and len(rest.split()) == 1)
        ):
            return scene, rest
    return (PICTURE, "") if turn.message.pictures else (None, prompt)


async def greet(turn: Turn, prompt: str) -> None:
    again = f"I continue session `{turn.session.id[:8]}`. " if turn.resumed else ""
    if prompt.startswith("/"):
        word = prompt.split()[0][:40]
        again += f"`{word}` is no command of mine; an agent hands it to its model, and here I am. "
    text = (
        f"## Hello from the demo agent\n\n{again}I am a **demo**: no model, no key, no cost. "
        "I speak Claude Code's protocol, so everything around me is real. Say one of these words:"
        f"\n\n{menu()}\n\n"
        "Open this session in a second window and answer from there."
    )
    await turn.respond(Think("Somebody is here. I will show what can be tried."), Say(text))


def menu() -> str:
    """All scenes, a line for each group."""
    return "\n".join(
        f"- {group}: " + " · ".join(_entry(scene) for scene in SCENES if scene.group == group)
        for group in dict.fromkeys(scene.group for scene in SCENES)
    )


def _entry(scene: Scene) -> str:
    return f"`{f'{scene.name} {scene.hint}'.rstrip()}` {scene.about}"


PICTURE = Scene(
    "image", "Session", "say how large a picture is", inside.look_at_picture, aliases=("picture",)
)
SCENES = (
    Scene("hello", "Talk", "show this list", greet, aliases=("hi", "help", "menu")),
    Scene("markdown", "Talk", "headings, lists, a table, code", talk.show_markdown),
    Scene("think", "Talk", "think aloud first", talk.think, "<about>", "words"),
    Scene("hidden", "Talk", "think unseen", talk.think_hidden),
    Scene("long", "Talk", "talk for long", talk.talk_long),
    Scene("flood", "Talk", f"{talk.FLOOD} messages at once", talk.flood),
    Scene("count", "Talk", "count until you press Esc", talk.count, aliases=("interrupt",)),
    Scene("run", "Work", "run it, if allowed", work.run_command, "<command>", "words", ("tool",)),
    Scene("parallel", "Work", "two permissions at once", work.run_two),
    Scene(
        "slow-tool",
        "Work",
        f"a tool of {work.SLOW_S} s",
        work.run_slowly,
        aliases=("slow", "slow tool"),
    ),
    Scene("write", "Work", "create a file", work.write_note, "<name>", "word"),
    Scene("edit", "Work", "change a real file, with a diff", work.edit_program),
    Scene("read", "Work", "read it", work.read_any, "<name>", "word"),
    Scene("tools", "Work", "one of each kind, made up", gallery.show_tools),
    Scene("large", "Work", "too much for one look", large.show_large, f"<{large.NAMES}>", "word"),
    Scene("question", "Ask", "one answer", asking.ask_one),
    Scene("choices", "Ask", "several answers", asking.ask_many),
    Scene("words", "Ask", "your own words", asking.ask_words),
    Scene("questions", "Ask", "three in turn", asking.ask_all),
    Scene("plan", "Ask", "a plan to review", asking.plan),
    Scene("tasks", "Team", "a list that changes", team.tasks),
    Scene("todos", "Team", "the older kind", team.todos),
    Scene("agents", "Team", "two subagents at once", team.agents, aliases=("subagents",)),
    Scene("background", "Team", "a turn nobody asked for", team.background),
    Scene("settings", "Session", "mode and model", inside.tell_settings, aliases=("mode", "model")),
    Scene("context", "Session", "how full I am", inside.tell_context, local=True),
    Scene("compact", "Session", "make room", inside.compact, "<hint>", "words", local=True),
    Scene("price", "Session", "an imaginary cost", inside.charge),
    Scene("cost", "Session", "all of it", inside.tell_cost, aliases=("usage",), local=True),
    Scene("clear", "Session", "forget everything", inside.clear, local=True),
    PICTURE,
    Scene("error", "Trouble", "the API fails", trouble.fail, "<429|401|529>", "word"),
    Scene("retry", "Trouble", "it recovers", trouble.recover),
    Scene("limit", "Trouble", "a rate limit comes near", trouble.warn_of_limit),
    Scene("unknown", "Trouble", "words nobody knows", trouble.say_unknown, aliases=("strange",)),
    Scene("crash", "Trouble", f"exit {trouble.CRASH_STATUS} in mid-turn", trouble.crash),
)
