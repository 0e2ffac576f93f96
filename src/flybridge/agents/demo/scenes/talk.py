"""Scenes of words: Markdown, thoughts, long answers and fast ones."""

from __future__ import annotations

from flybridge.agents.demo.blocks import Hidden, Say, Think
from flybridge.agents.demo.turn import Turn

FLOOD = 2000
COUNT = 100

SHOWCASE = """\
# Markdown

A terminal shows it as styled text, a browser as a page. *Emphasis*, **strong words**, `code` and
a [link](https://example.invalid/nowhere).

## Lists

- a point
  - one inside it, whose text is long enough to be broken into two rows on most terminals, \
so that you see where the second row begins
- another point
1. first
2. second

> A quotation, of nobody in particular.

## A table

| helm | sees | steers |
|:-----|-----:|:------:|
| below | 40 m | the rudder |
| above | 4 km | the same rudder |

## Code

```python
def helm(angle: float) -> str:
    return "port" if angle < 0 else "starboard"
```

```javascript
const rudder = (helm) => ({ angle: helm.angle, by: helm.name });
```

```shell
flybridge chat --last   # come back to this session
```

---

That is all of it."""


async def show_markdown(turn: Turn, _rest: str) -> None:
    await turn.respond(Say(SHOWCASE))


async def think(turn: Turn, rest: str) -> None:
    about = rest or "what a boat's second set of controls is good for"
    thought = (
        f"The question is {about}. One helm is enough to steer, but not to see. "
        "From above, the same boat is steered with a wider view; both wheels move one rudder. "
        "So the answer is about sharing one state, not about having two."
    )
    await turn.respond(Think(thought), Say("I thought about it: **two helms, one rudder.**"))


async def think_hidden(turn: Turn, _rest: str) -> None:
    said = (
        "Before this sentence stood a thought that the API keeps to itself. "
        "You see that there was one, and not what it said."
    )
    await turn.respond(Hidden(), Say(said))


async def talk_long(turn: Turn, _rest: str) -> None:
    line = (
        "This is line {} of a long answer that says little on purpose, "
        "so that you can scroll, read, or interrupt me in the middle of it. "
    )
    lines = [f"{n}. {line.format(n)}" for n in range(1, 22)]
    await turn.respond(Say("## A long answer\n\n" + "\n".join(lines) + "\n\nThat was all of it."))


async def flood(turn: Turn, _rest: str) -> None:
    await turn.respond(Say(f"{FLOOD} letters now, each a message of its own, without a pause."))
    numbers = " ".join(str(n) for n in range(1, FLOOD))
    await turn.respond(Say(numbers[:FLOOD], rush=True))
    await turn.respond(Say("All of them arrived, in order; the event that closed them says so."))


async def count(turn: Turn, _rest: str) -> None:
    numbers = " ".join(f"{n}" for n in range(1, COUNT + 1))
    await turn.respond(
        Say(
            f"I count to {COUNT}. **Stop me** with Esc: what I said so far stays, "
            f"the turn ends as interrupted, the session goes on.\n\n{numbers}\n\nNobody stopped me."
        )
    )
