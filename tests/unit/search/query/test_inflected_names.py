"""Inflected names in queries find the name itself, where the language is known."""

import pytest

from kbx_tui.index.snapshot import NameVotes
from kbx_tui.knowledge.folding import romanized
from kbx_tui.knowledge.records import Entity
from kbx_tui.search.query.name_matching import NameMatcher
from tests.unit.search.query.people import person

ENTITIES = (
    person("Ольга Кузнецова"),
    person("Дмитрий Орлов"),
    person("Karl Weber"),
    person("Eva Bauer"),
    person("Νίκος Παππάς"),
    Entity("project:сокол", "Сокол", "project", "memory/projects/s.md"),
    Entity("project:elbtunnel", "Elbtunnel", "project", "memory/projects/e.md"),
)


VOTES = {
    word: NameVotes(3, 0)
    for word in (
        *("кузнецова", "орлов", "weber", "bauer", "петр", "петра", "шитов", "жукова", "зукова"),
        *("шмит", "цен", "цой", "маск", "шов", "shenov", "cehov"),
    )
}


def held_by_texts(word: str, after: str) -> int:
    return 5 if word in ("bericht", "plan", "mask") and not after else 0


def named(query: str, language: str, entities: tuple[Entity, ...] = ENTITIES) -> set[str]:
    matcher = NameMatcher.of(entities, VOTES, held_by_texts, language)
    matches = matcher.find(query)
    return {entities[match.entity].name for match in matches if match.named}


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("смета Сокола", "Сокол"),
        ("что известно о Соколе", "Сокол"),
        ("встреча с Ольгой Кузнецовой", "Ольга Кузнецова"),
        ("отчёт Кузнецовой", "Ольга Кузнецова"),
        ("письмо Дмитрию", "Дмитрий Орлов"),
        ("план Орлова", "Дмитрий Орлов"),
        ("вопросы к Орлову и смета", "Дмитрий Орлов"),
        ("Орлові", "Дмитрий Орлов"),
        ("кошторис Соколові", "Сокол"),
    ],
)
@pytest.mark.parametrize("language", ["russian", "english"])
def test_the_language_of_cyrillic_names_is_known(query: str, name: str, language: str) -> None:
    assert named(query, language) == {name}


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("Webers Bericht", "Karl Weber"),
        ("der Bericht Karl Webers", "Karl Weber"),
        ("Bauers Plan", "Eva Bauer"),
        ("Kosten des Elbtunnels", "Elbtunnel"),
    ],
)
def test_the_language_of_most_documents_counts_for_latin_letters(query: str, name: str) -> None:
    assert named(query, "german") == {name}


def test_a_form_of_several_names_or_a_shorter_word_names_nobody() -> None:
    assert named("Web und Bau", "german") == set()
    assert named("the webs of spiders", "english") == set()

    people = (person("Пётр Ким"), person("Петра Ким"))
    assert named("отчёт Петру", "russian", people) == set()

    people = (person("Jan Peter"), person("Jan Peters"))
    assert named("Bericht von Jan Peters", "german", people) == {"Jan Peters"}


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("what did Kuznetsova decide", "Ольга Кузнецова"),
        ("Dmitrij Orlow", "Дмитрий Орлов"),
        ("notes on Dmitry", "Дмитрий Орлов"),
        ("Budget von Sokol", "Сокол"),
        ("письмо от Вебер", "Karl Weber"),
        ("Карл Вебер", "Karl Weber"),
    ],
)
def test_a_name_is_found_in_latin_or_cyrillic_letters(query: str, name: str) -> None:
    assert named(query, "english") == {name}


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("Sitov contract", "Павел Шитов"),
        ("notes of Zukova", "Анна Жукова"),
        ("Smit said", "Ян Шмит"),
        ("what did Chen say", "Ли Цен"),
        ("Choi said", "Ольга Цой"),
        ("mask policy", "Илон Маск"),
        ("show the plan", "Борис Шов"),
        ("what did Show decide", "Борис Шов"),
        ("отчёт Сенов", "Amartya Shenov"),
    ],
)
def test_word_that_only_sounds_like_a_name_names_nobody(query: str, name: str) -> None:
    assert named(query, "english", (person(name),)) == set()


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("Zwetajewa", "Марина Цветаева"),
        ("Gorbatschow said", "Михаил Горбачёв"),
        ("notes of Serhiy", "Сергій Коваль"),
        ("Yevhen asked", "Євген Коваль"),
        ("Joukov decided", "Георгий Жуков"),
        ("Roschkow", "Марк Рожков"),
        ("Sasonow", "Пётр Сазонов"),
        ("Samojlenskyj", "Ігор Замойленський"),
        ("Czernyszew", "Олег Чернышев"),
        ("Lyolya Koval", "Льоля Коваль"),
        ("Pouchkine", "Александр Пушкин"),
        ("Шульц", "Eva Schulz"),
        ("Смит", "Adam Smith"),
    ],
)
def test_a_name_is_found_as_other_languages_spell_it(query: str, name: str) -> None:
    assert named(query, "english", (person(name),)) == {name}


def test_a_spelling_of_two_names_names_neither() -> None:
    people = (person("Ира Сахарова"), person("Ада Захарова"))
    assert named("Sacharowa", "german", people[:1]) == {"Ира Сахарова"}
    assert named("Sacharowa", "german", people) == set()
    assert named("Смит", "english", (person("Eva Schulz"), person("Jan Schmidt"))) == set()


def test_marks_distinguish_the_sibilants_of_latin_names() -> None:
    assert named("Šitov contract", "english", (person("Павел Шитов"),)) == {"Павел Шитов"}
    assert named("Чехов и смета", "english", (person("Anton Čehov"),)) == {"Anton Čehov"}
    people = (person("Ира Жукова"), person("Ира Зукова"))
    assert named("Zhukova said", "english", people) == {"Ира Жукова"}


@pytest.mark.parametrize(
    ("name", "spellings"),
    [
        ("юлия шевченко", "yulia shevchenko, Julia Ševčenko, yuliya schewtschenko"),
        ("евгении соловьев", "evgeny solovyov, yevgenii soloviev, jewgenij solovev"),
        ("александр чехов", "alexander chekhov"),
    ],
)
def test_ways_to_write_a_cyrillic_name_are_one(name: str, spellings: str) -> None:
    keys = [list(map(romanized, each.split())) for each in [name, *spellings.split(", ")]]
    assert keys[1:] == [keys[0]] * (len(keys) - 1)
