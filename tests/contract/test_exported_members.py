"""The public names of the package."""

import inspect

import pytest

import kbx_tui

PUBLIC = kbx_tui.__all__


@pytest.mark.parametrize("name", [name for name in PUBLIC if name != "__version__"])
def test_public_name_is_a_documented_class(name: str) -> None:
    member = getattr(kbx_tui, name)
    assert inspect.isclass(member)
    assert member.__name__ == name
    assert inspect.getdoc(member)


def test_public_names_are_listed_and_unknown_ones_an_attribute_error() -> None:
    assert dir(kbx_tui) == sorted(PUBLIC)
    with pytest.raises(AttributeError, match="nothing_like_that"):
        _ = kbx_tui.nothing_like_that


def test_every_error_class_is_public() -> None:
    from kbx_tui.errors import KbxError

    def kinds(base: type[KbxError]) -> set[str]:
        return {base.__name__}.union(*(kinds(kind) for kind in base.__subclasses__()))

    names = {name for name in kinds(KbxError) if not name.startswith("_")}
    assert names <= set(PUBLIC)
