from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flybridge.agents.kinds import AgentKind, AgentSettings
from flybridge.agents.registry import BUILT_IN, Registry
from flybridge.config.environment import AGENT_ENV
from flybridge.config.schema import KEYS, AgentConfig, Config
from flybridge.config.sources import load, project_file, user_file, variable
from flybridge.errors import ConfigError
from flybridge.session.ports import Agent

Put = Callable[[str], Path]
REFERENCE = Path(__file__).parents[3] / "docs" / "reference" / "configuration.md"


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path / "home")}


@pytest.fixture
def user(tmp_path: Path) -> Put:
    return lambda text: _put(tmp_path / "home/.config/flybridge/config.yaml", text)


@pytest.fixture
def project(tmp_path: Path) -> Put:
    return lambda text: _put(tmp_path / "repo/.flybridge/config.yaml", text)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    (tmp_path / "repo/.git").mkdir(parents=True)
    return tmp_path / "repo"


def _put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o600)
    return path


# ---- where the files are


def test_the_user_file_follows_xdg_then_home() -> None:
    assert user_file({"XDG_CONFIG_HOME": "/x", "HOME": "/h"}) == Path("/x/flybridge/config.yaml")
    assert user_file({"HOME": "/h"}) == Path("/h/.config/flybridge/config.yaml")
    assert user_file({"XDG_CONFIG_HOME": "rel", "HOME": ""}) is None


def test_the_nearest_project_file_up_to_the_checkout_wins(repo: Path, project: Put) -> None:
    deep = repo / "a" / "b"
    deep.mkdir(parents=True)
    assert project_file(deep) is None
    top = project("title: top\n")
    assert project_file(deep) == top
    nearer = _put(repo / "a/.flybridge/config.yaml", "title: nearer\n")
    assert project_file(deep) == nearer


def test_a_file_above_the_checkout_is_not_looked_at(repo: Path) -> None:
    _put(repo.parent / ".flybridge/config.yaml", "title: stranger\n")
    assert project_file(repo) is None


def test_outside_a_checkout_only_the_folder_itself_counts(tmp_path: Path) -> None:
    below = tmp_path / "a"
    below.mkdir()
    found = _put(tmp_path / ".flybridge/config.yaml", "title: x\n")
    assert project_file(tmp_path) == found
    assert project_file(below) is None


# ---- precedence


def test_no_file_at_all_gives_the_defaults(env: dict[str, str], tmp_path: Path) -> None:
    assert load(tmp_path, env=env) == Config()
    assert load(None, env={}) == Config()


def test_later_sources_win(env: dict[str, str], repo: Path, user: Put, project: Put) -> None:
    def title(overrides: dict[str, object]) -> str:
        return load(repo, env=env, overrides=overrides).title

    assert title({}) == ""
    user("title: user\n")
    assert title({}) == "user"
    project("title: project\n")
    assert title({}) == "project"
    env["FLYBRIDGE_TITLE"] = "environment"
    assert title({}) == "environment"
    assert title({"title": "command line"}) == "command line"
    assert title({"title": None}) == "environment"


def test_a_file_changes_only_what_it_names(env: dict[str, str], user: Put) -> None:
    user("keeper:\n  orphan_s: 5\nlimits:\nagents:\n  claude:\n    env: [AWS_REGION]\n")
    config = load(None, env=env)
    assert (config.keeper.orphan_s, config.keeper.hello_s) == (5, 30)
    assert config.agents["claude"] == AgentConfig(
        kind="claude", program=("claude",), env=("AWS_REGION",)
    )
    assert config.agents["demo"] == Config().agents["demo"]


def test_a_new_agent_takes_its_kinds_program_unless_it_has_one(
    env: dict[str, str], user: Put
) -> None:
    user("agents:\n  a: {kind: claude}\n  b: {kind: claude, program: [/opt/c, -x]}\n")
    agents = load(None, env=env).agents
    assert agents["a"].program == ("claude",)
    assert agents["b"].program == ("/opt/c", "-x")


def test_options_of_an_agent_are_typed_by_what_its_kind_publishes(
    env: dict[str, str], user: Put
) -> None:
    user("agents:\n  claude:\n    options: {max_turns: 3, disallowed_tools: [Bash], fast: false}\n")
    expected = {"max_turns": 3, "disallowed_tools": ("Bash",)}
    assert load(None, env=env).agents["claude"].options == expected
    assert load(None, env=env).agents["demo"].options == {}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("max_turn: 3", "options.max_turn: this agent has no option 'max_turn'; did you mean"),
        ("max_turns: many", "options.max_turns: max_turns: expected a whole number"),
        ("agents: '['", "options.agents: agents: expected a JSON object"),
    ],
)
def test_an_option_that_the_kind_does_not_have_is_refused(
    env: dict[str, str], user: Put, options: str, words: str
) -> None:
    path = user(f"agents:\n  demo:\n    options:\n      {options}\n")
    with pytest.raises(ConfigError) as refused:
        load(None, env=env)
    assert str(refused.value).startswith(f"{path}: agents.demo.{words}")


def test_a_kind_that_nothing_provides_costs_no_other_agent(env: dict[str, str], user: Put) -> None:
    user("default_agent: a\nagents:\n  a: {kind: removed, options: {speed: 3}}\n")
    config = load(None, env=env)
    expected = AgentConfig(kind="removed", program=("removed",), options={"speed": 3})
    assert config.agents == {**Config().agents, "a": expected}


@pytest.mark.parametrize("failure", [ValueError("no"), SystemExit(3)])
def test_a_package_that_fails_does_not_stop_the_loading(
    env: dict[str, str], user: Put, monkeypatch: pytest.MonkeyPatch, failure: BaseException
) -> None:
    def build(settings: AgentSettings) -> Agent:
        raise failure

    kinds = Registry(built_in=[*BUILT_IN, AgentKind(name="acme", build=build, program=("p",))])
    monkeypatch.setattr("flybridge.config.sources.REGISTRY", kinds)
    user("agents:\n  a: {kind: acme, options: {speed: 3}}\n")
    assert load(None, env=env).agents["a"].options == {"speed": 3}


def test_a_project_sets_no_options(env: dict[str, str], project: Put, repo: Path) -> None:
    project("agents:\n  demo:\n    options: {skip_permissions: true}\n")
    with pytest.raises(ConfigError, match="a project file may not set this"):
        load(repo, env=env)


def test_another_kind_brings_its_own_program(env: dict[str, str], user: Put) -> None:
    user("agents:\n  claude: {kind: demo}\n")
    assert load(None, env=env).agents["claude"].program == Config().agents["demo"].program


def test_the_command_line_reaches_every_key(env: dict[str, str]) -> None:
    config = load(
        None,
        env=env,
        overrides={"limits.held_inputs": 2, "agents.demo.program": ["/bin/cat"], "log_level": None},
    )
    assert config.limits.held_inputs == 2
    assert config.agents["demo"].program == ("/bin/cat",)


@pytest.mark.parametrize(
    ("name", "value", "key"),
    [
        ("FLYBRIDGE_DEFAULT_AGENT", "demo", "default_agent"),
        ("FLYBRIDGE_IDLE_EXIT_S", "0.5", "idle_exit_s"),
        ("FLYBRIDGE_KEEPER_ORPHAN_S", "7", "keeper.orphan_s"),
        ("FLYBRIDGE_LIMITS_SESSIONS", "3", "limits.sessions"),
        ("FLYBRIDGE_LOG_LEVEL", "debug", "log_level"),
    ],
)
def test_the_environment_sets_single_values(
    env: dict[str, str], name: str, value: str, key: str
) -> None:
    found: object = load(None, env=env | {name: value})
    for part in key.split("."):
        found = getattr(found, part)
    assert str(found) == value or found == float(value)
    assert variable(key) == name


def test_variables_that_are_no_setting_are_left_alone(env: dict[str, str]) -> None:
    env |= {"FLYBRIDGE_SESSION": "ses_1", "FLYBRIDGE_AGENTS": "x", "FLYBRIDGE_LABELS": "x"}
    assert load(None, env=env) == Config()


# ---- what a project may not do


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("agents:\n  claude:\n    program: [./evil]\n", "agents.claude.program"),
        ("agents:\n  claude:\n    env: [AWS_SECRET]\n", "agents.claude.env"),
        ("agents: {}\n", "agents"),
        ("title: x\nlimits:\n  sessions: 1000\n", "limits.sessions"),
        ("keeper:\n  orphan_s: 1\n", "keeper.orphan_s"),
        ("idle_exit_s: 1\n", "idle_exit_s"),
        ("retention:\n  days: 1\n", "retention.days"),
        ("log_level: debug\n", "log_level"),
    ],
)
def test_a_project_file_that_reaches_further_is_an_error_with_file_and_key(
    env: dict[str, str], repo: Path, project: Put, text: str, key: str
) -> None:
    path = project(text)
    with pytest.raises(ConfigError, match="a project file may not set this") as caught:
        load(repo, env=env)
    assert caught.value.where == f"{path}: {key}"


def test_no_key_is_allowed_to_a_project_by_being_new(
    env: dict[str, str], repo: Path, project: Put
) -> None:
    allowed = set()
    for key in KEYS:
        heading, _, name = key.rpartition(".")
        project(f"{heading}: {{{name}: demo}}\n" if heading else f"{name}: demo\n")
        try:
            load(repo, env=env)
            allowed.add(key)
        except ConfigError as error:
            if "may not set this" not in error.reason:
                allowed.add(key)
    assert allowed == {"default_agent", "title", "labels", "output.adhoc_output"}


def test_a_project_may_choose_among_agents_that_are_there(
    env: dict[str, str], repo: Path, user: Put, project: Put
) -> None:
    user("agents:\n  mine: {kind: claude}\n")
    project("default_agent: mine\n")
    assert load(repo, env=env).default_agent == "mine"
    path = project("default_agent: theirs\n")
    with pytest.raises(ConfigError, match="no agent 'theirs' is configured") as caught:
        load(repo, env=env)
    assert caught.value.where == f"{path}: default_agent"


def test_a_project_file_that_others_may_write_is_refused(
    env: dict[str, str], repo: Path, project: Put
) -> None:
    project("title: x\n").chmod(0o666)
    with pytest.raises(ConfigError, match="others may write"):
        load(repo, env=env)


def test_a_dangling_link_in_a_project_is_an_error_and_not_a_silence(
    env: dict[str, str], repo: Path
) -> None:
    (repo / ".flybridge").mkdir()
    (repo / ".flybridge/config.yaml").symlink_to(repo / "nowhere")
    with pytest.raises(ConfigError, match="cannot be read"):
        load(repo, env=env)


# ---- complaints name file and key


@pytest.mark.parametrize(
    ("text", "where", "reason"),
    [
        ("titel: x\n", "titel", "unknown key; did you mean 'title'?"),
        ("keeper:\n  orphan: 1\n", "keeper.orphan", "unknown key; did you mean 'orphan_s'?"),
        ("agents:\n  a:\n    prog: [x]\n", "agents.a.prog", "did you mean 'program'?"),
        ("zzz: 1\n", "zzz", "unknown key"),
        ("- a\n", "", "expected keys and values here"),
        ("keeper: 5\n", "keeper", "expected keys and values here"),
        ("agents: [a]\n", "agents", "expected keys and values here"),
        ("1: x\n", "", "the key 1 is not a word"),
        ("idle_exit_s: soon\n", "idle_exit_s", "Expected `float`, got `str`"),
        ("idle_exit_s: -1\n", "idle_exit_s", "Expected `float` >= 0"),
        ("idle_exit_s: .nan\n", "idle_exit_s", "Expected `float` >= 0"),
        ("limits:\n  sessions: 0\n", "limits.sessions", "Expected `int` >= 1"),
        ("log_level: loud\n", "log_level", "must be one of debug, info, warning, error"),
        ("agents:\n  a: {kind: no kind}\n", "agents.a.kind", "must be one of claude, demo"),
        ("agents:\n  a: {program: [x]}\n", "agents.a", "a new agent needs its kind"),
        ("agents:\n  a:\n", "agents.a", "says nothing about this agent"),
        ("agents:\n  A.b: {kind: demo}\n", "agents.A.b", "a name is up to 32"),
        ("agents:\n  demo: {program: []}\n", "agents.demo.program", "at least the program's name"),
        ('agents:\n  demo: {program: [""]}\n', "agents.demo.program", "a bare name or an absolute"),
        (
            "agents:\n  demo: {program: [./x]}\n",
            "agents.demo.program",
            "a bare name or an absolute",
        ),
        ("agents:\n  demo: {program: cat}\n", "agents.demo.program", "got `str`"),
        ("agents:\n  demo: {env: [A B]}\n", "agents.demo.env", "'A B' is not the name"),
        ("agents:\n  demo: {env: [FLYBRIDGE_X]}\n", "agents.demo.env", "never passed to an agent"),
        ('title: "a\\eb"\n', "title", "printable characters"),
        (f"title: {'x' * 201}\n", "title", "at most 200"),
        ("labels:\n  run.id: x\n", "labels.run.id", "a name is up to 32"),
        ('labels:\n  team: "a\\nb"\n', "labels", "printable characters"),
        ("labels: {a: 1}\n", "labels", "Expected `str`, got `int`"),
        ("default_agent: nobody\n", "default_agent", "no agent 'nobody' is configured"),
    ],
)
def test_a_mistake_in_the_user_file_is_named(
    env: dict[str, str], user: Put, text: str, where: str, reason: str
) -> None:
    path = user(text)
    with pytest.raises(ConfigError) as caught:
        load(None, env=env)
    assert caught.value.where == (f"{path}: {where}" if where else str(path))
    assert reason in caught.value.reason


def test_a_misspelt_key_in_a_project_file_gets_the_nearest_allowed_one(
    env: dict[str, str], repo: Path, project: Put
) -> None:
    project("lables: {a: b}\n")
    with pytest.raises(ConfigError, match="did you mean 'labels'"):
        load(repo, env=env)


def test_bad_yaml_is_named_with_its_line(env: dict[str, str], user: Put) -> None:
    path = user("title: x\nlabels: {a: 1\n")
    with pytest.raises(ConfigError) as caught:
        load(None, env=env)
    assert caught.value.where == f"{path}:3"


def test_a_bad_variable_is_named(env: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match="FLYBRIDGE_LIMITS_SESSIONS: Expected `int`"):
        load(None, env=env | {"FLYBRIDGE_LIMITS_SESSIONS": "many"})


def test_a_bad_option_is_named(env: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match=r"command line: keeper\.nope: unknown key"):
        load(None, env=env, overrides={"keeper.nope": 1})


words = st.sampled_from(
    ["agents", "claude", "program", "kind", "env", "title", "labels", "keeper", "orphan_s", "x"]
)
leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | words
trees = st.recursive(
    leaves, lambda inner: st.lists(inner) | st.dictionaries(words, inner), max_leaves=8
)


@given(tree=st.dictionaries(words, trees))
def test_any_tree_gives_a_config_or_a_config_error(tree: dict[str, object]) -> None:
    try:
        config = load(None, env={}, overrides=tree)
    except ConfigError:
        return
    assert msgspec.convert(msgspec.to_builtins(config), Config) == config


# ---- the reference page


def test_the_reference_page_names_every_key_variable_and_passed_name() -> None:
    page = REFERENCE.read_text()
    singles = [key for key in KEYS if key != "labels"]
    wanted = [*KEYS, *map(variable, singles), *AGENT_ENV, *AgentConfig.__struct_fields__]
    assert [name for name in wanted if f"`{name}`" not in page] == []


def test_a_list_in_a_variable_has_commas() -> None:
    env = {"FLYBRIDGE_SERVE_USERS": "1002, ada,", "FLYBRIDGE_SERVE_NAMES": "fly.example"}
    serve = load(None, env=env).serve
    assert set(map(str, serve.users)) == {"1002", "ada"}
    assert serve.names == ("fly.example",)
    assert load(None, env={"FLYBRIDGE_SERVE_FORWARDERS": ""}).serve.forwarders == ()
