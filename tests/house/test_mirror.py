"""Every source module has a test module of the same name in the same place."""

from __future__ import annotations

from tests.repo.tree import PACKAGE, ROOT

# module → why it has no twin; a reason that no longer holds is removed
WITHOUT_TWIN = {
    "runtime/services.py": "shapes only: what every other module of the room is handed",
    "testing/drivers.py": "its own faults are tried in tests/contracts/test_drivers.py",
    "session/effects.py": "shapes only; who decides and who carries out is tested",
    "session/ports.py": "shapes only; the contract kits in flybridge.testing check who fills them",
}


def sources() -> list[str]:
    found = [path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py")]
    return sorted(name for name in found if not name.endswith(("__init__.py", "__main__.py")))


def twin(source: str) -> str:
    folder, slash, name = source.rpartition("/")
    return f"tests/{folder}{slash}test_{name}"


def test_every_module_has_a_twin() -> None:
    wanted = [source for source in sources() if source not in WITHOUT_TWIN]
    missing = [twin(source) for source in wanted if not (ROOT / twin(source)).is_file()]
    assert not missing, "write these test modules:\n" + "\n".join(missing)


def test_the_list_of_exceptions_holds_nothing_else() -> None:
    known = sources()
    idle = [name for name in WITHOUT_TWIN if name not in known or (ROOT / twin(name)).is_file()]
    assert idle == []
