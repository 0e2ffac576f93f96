from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flybridge.agents.claude.transcripts.tree import Tree
from flybridge.agents.claude.wire import transcript as t
from tests.harness.claude_transcripts import GOLDEN, Writer, golden, line, talk


def way(lines: list[bytes]) -> list[str]:
    return [node.uuid for node in Tree(lines).way()]


def leaf(lines: list[bytes]) -> str:
    found = Tree(lines).leaf
    return found.uuid if found else ""


def forked() -> Writer:
    """A talk whose fifth line has two that hang on it: u6 u7, and then u8 u9."""
    writer = talk()
    writer.at = "u5"
    writer.prompt("the other way")
    writer.say("Aye.")
    return writer


def test_the_way_goes_from_the_root_to_the_last_end() -> None:
    assert way(talk().lines) == ["u1", "u2", "u3", "u4", "u5", "u6", "u7"]
    assert way(forked().lines) == ["u1", "u2", "u3", "u4", "u5", "u8", "u9"]


def test_the_program_may_name_the_end_itself() -> None:
    lines = [*forked().lines, line("last-prompt", lastPrompt="x", leafUuid="u7")]
    assert leaf(lines) == "u7"
    earlier = [*forked().lines, line("last-prompt", lastPrompt="x", leafUuid="u5")]
    assert leaf(earlier) == "u9"
    unknown = [*forked().lines, line("last-prompt", lastPrompt="x", leafUuid="gone")]
    assert leaf(unknown) == "u9"


def test_an_end_that_was_named_in_an_attachment_is_the_line_above_it() -> None:
    writer = talk()
    writer.put("attachment", uuid="a1", attachment={"type": "date"})
    writer.lines.append(line("last-prompt", lastPrompt="x", leafUuid="a1"))
    assert leaf(writer.lines) == "u7"


def test_other_ends_are_branches_with_their_last_words() -> None:
    (branch,) = Tree(forked().lines).branches()
    assert (branch.leaf, branch.lost, branch.head) == ("u7", 2, "Ahoy.")
    assert Tree(talk().lines).branches() == []


def parallel() -> Writer:
    """Three calls of one message, as both programs write them: each hangs on the one before."""
    writer = Writer()
    writer.prompt("all at once")
    for tool in ("a", "b", "c"):
        writer.call(tool, message="msg_p")
    for tool, call in (("c", "u4"), ("b", "u3"), ("a", "u2")):
        writer.at = call
        writer.result(tool)
    writer.say("All done.")
    return writer


def test_calls_that_ran_beside_each_other_all_belong() -> None:
    tree = Tree(parallel().lines)
    assert [node.uuid for node in tree.way()] == [f"u{at}" for at in range(1, 9)]
    assert tree.branches() == []
    assert tree.beside() == 2
    assert tree.unanswered() == []


@pytest.mark.parametrize("name", ["2.1.38-tools", "2.1.325-tools"])
def test_so_they_do_in_what_the_real_programs_wrote(name: str) -> None:
    tree = Tree(golden(name))
    assert tree.branches() == []
    assert tree.beside() == 1
    assert [*tree.uncalled(), *tree.unanswered()] == []


def test_an_abandoned_call_is_no_branch() -> None:
    writer = talk()
    writer.call("toolu_2")
    writer.at = "u7"
    writer.say("No response requested.", message="filler")
    assert Tree(writer.lines).branches() == []


def test_a_compaction_is_followed_up_to_what_was_before() -> None:
    writer = talk()
    writer.put("system", subtype="compact_boundary", parentUuid=None, logicalParentUuid="u7")
    writer.prompt("a summary", isCompactSummary=True)
    assert way(writer.lines)[0] == "u1"


def test_a_parent_that_is_not_there_is_passed_over() -> None:
    lines = talk().lines
    del lines[5]  # u5
    tree = Tree(lines)
    assert [node.uuid for node in tree.way()] == ["u1", "u2", "u3", "u4", "u6", "u7"]
    assert [at for at in range(len(tree.nodes)) if tree.is_orphan(at)] == [4]


def test_a_ring_has_an_end_and_is_named_by_its_first_line() -> None:
    writer = Writer()
    writer.prompt("a", parentUuid="u3")
    writer.say("b")
    writer.prompt("c")
    writer.say("d")
    tree = Tree(writer.lines)
    assert tree.loops() == [0]
    assert [node.uuid for node in tree.way()] == ["u1", "u2", "u3", "u4"]
    own = talk()
    own.put("user", uuid="u8", parentUuid="u8", message={"content": "me"})
    assert Tree(own.lines).loops() == [7]
    assert way(own.lines)[0] == "u1"


def test_the_last_of_two_lines_with_one_uuid_counts() -> None:
    writer = talk()
    writer.prompt("again", uuid="u7", parentUuid="u6")
    tree = Tree(writer.lines)
    assert [(one.number, one.first, one.uuid) for one in tree.twice] == [(9, 8, "u7")]
    assert tree.way()[-1].type == "user"


def test_subagents_in_the_same_file_are_left_out() -> None:
    writer = talk()
    writer.prompt("for a helper", isSidechain=True)
    assert leaf(writer.lines) == "u7"
    assert Tree(golden("2.1.38-agent")).leaf is None


def test_a_call_without_result_is_at_the_end_or_in_the_middle() -> None:
    writer = Writer()
    writer.prompt("go")
    writer.call("x")
    assert Tree(writer.lines).unanswered() == [(2, "x", True)]
    writer.prompt("hello?")
    assert Tree(writer.lines).unanswered() == [(2, "x", False)]


def test_a_result_without_call_is_named() -> None:
    writer = Writer()
    writer.result("x")
    assert Tree(writer.lines).uncalled() == [(1, "x")]


def test_lines_after_the_newest_by_the_clock_are_counted() -> None:
    writer = talk()
    assert Tree(writer.lines).after_newest() == 0
    writer.prompt("late", timestamp="2020-01-01T00:00:00.000Z")
    assert Tree(writer.lines).after_newest() == 1


names = st.sampled_from(["a", "b", "c", "d", "e"])


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["user", "assistant", "system", "attachment", "last-prompt"]),
            names,
            st.none() | names,
            st.sampled_from(["x", "y"]),
        ),
        max_size=12,
    )
)
def test_any_tangle_has_a_way_without_repetition(
    drawn: list[tuple[str, str, str | None, str]],
) -> None:
    lines = [
        line(kind, uuid=uuid, parentUuid=parent, message={"content": "w", "id": message})
        if kind != "last-prompt"
        else line(kind, leafUuid=uuid)
        for kind, uuid, parent, message in drawn
    ]
    tree = Tree(lines)
    found = tree.way()
    assert len({id(node) for node in found}) == len(found)
    assert (tree.leaf is None) == (not any(node.type in t.SAID for node in tree.nodes))
    told = [*tree.branches(), *tree.loops(), *tree.unanswered(), *tree.uncalled()]
    assert len(told) <= 2 * len(lines)
    assert 0 <= tree.beside() + tree.after_newest() <= 2 * len(lines)


def test_every_recorded_file_is_a_tree_without_holes() -> None:
    for path in GOLDEN.glob("*.jsonl"):
        tree = Tree(path.read_bytes().splitlines())
        assert not [at for at in range(len(tree.nodes)) if tree.is_orphan(at)], path.name
        assert tree.loops() == []
