"""Recognising the language of a text."""

import pytest

from kbx_tui.index.lexical.postings import language_of, term_of, words_in
from kbx_tui.knowledge.folding import FUNCTION_WORDS, beginning_of, plural, singular, stem

SENTENCES = {
    "english": "The servers are up again since yesterday, because the disk was full",
    "danish": "Serveren kører igen siden i går, fordi disken var fuld og ikke kunne skrive",
    "dutch": "De server draait weer sinds gisteren, want de schijf was vol en kon niets meer",
    "finnish": "Palvelin on taas käynnissä, koska levy oli täynnä ja se ei voi kirjoittaa",
    "french": "Le serveur est de nouveau en ligne depuis hier, la cause était le disque plein",
    "german": "Die Server laufen wieder seit gestern, Grund war der volle Speicher auf dem Knoten",
    "hungarian": "A szerver tegnap óta ismét működik, mert a lemez megtelt és nem volt hely",
    "italian": "Il server è di nuovo attivo da ieri, perché il disco era pieno e non c'era posto",
    "norwegian": "Serveren er oppe igjen fra i går, fordi disken var full og ikke kunne skrive mer",
    "portuguese": "O servidor está de novo no ar desde ontem, a causa foi o disco cheio",
    "romanian": "Serverul este din nou pornit de ieri, pentru că discul era plin",
    "russian": "Сервер снова работает со вчерашнего дня, потому что диск был заполнен",
    "spanish": "Los servidores funcionan otra vez desde ayer, la causa fue el disco lleno",
    "swedish": "Servern är uppe igen sedan i går, eftersom disken var full och inte kunde skriva",
    "turkish": "Sunucu dün tekrar çalıştı, çünkü disk dolu ve bu daha önce de oldu",
    "greek": "Ο διακομιστής λειτουργεί πάλι από χθες",
    "arabic": "الخادم يعمل من جديد منذ أمس لأن القرص كان ممتلئا",
    "tamil": "சேவையகம் நேற்று முதல் மீண்டும் இயங்குகிறது",
}


@pytest.mark.parametrize("language", SENTENCES)
def test_a_sentence_shows_its_language(language: str) -> None:
    assert language_of(words_in(SENTENCES[language])) == language


def test_every_language_has_a_sentence_here() -> None:
    assert SENTENCES.keys() == {"english", *FUNCTION_WORDS}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "de la Vega meets van der Berg in Bonn",
        "By D. L. Parnas, A. N. Habermann, C. S. Wallace: scheduling, deadlock, lockout",
        "x = 1; y = die(2); der, das",
        "昨日の障害の原因はディスクの容量不足でした",
        "| id | name |\n| 1 | Ana |\n| 2 | La Paz |",
    ],
    ids=["empty", "names", "initials", "code", "without-stems", "table"],
)
def test_what_shows_no_other_language_is_analysed_as_english(text: str) -> None:
    assert language_of(words_in(text)) == "english"


@pytest.mark.parametrize(
    ("language", "forms"),
    [
        ("german", ("Häuser", "Hauses", "haus")),
        ("french", ("décidé", "décider", "decide")),
        ("spanish", ("reunión", "reuniones", "reunion")),
        ("russian", ("новый", "новая", "нового")),
    ],
)
def test_forms_of_a_word_have_one_term_with_or_without_accents(
    language: str, forms: tuple[str, ...]
) -> None:
    terms = {term_of(word, language) for form in forms for word in words_in(form)}
    assert len(terms) == 1


def test_a_term_of_another_language_is_never_one_of_english() -> None:
    assert stem("iterate", "spanish") == "iterat" != term_of("iterate")
    assert term_of("iterate", "spanish") == "spanish:iterat"
    assert term_of("2026", "spanish") == term_of("2026")


@pytest.mark.parametrize(
    ("singular_form", "plural_form"),
    [
        ("record", "records"),
        ("query", "queries"),
        ("box", "boxes"),
        ("branch", "branches"),
        ("key", "keys"),
        ("BigInt", "BigInts"),
        ("API", "APIs"),
    ],
)
def test_regular_words_have_a_plural(singular_form: str, plural_form: str) -> None:
    assert plural(singular_form) == plural_form
    assert plural(plural_form) == plural_form


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("records", "record"),
        ("queries", "query"),
        ("helpers", "helper"),
        ("types", "type"),
        ("class", "class"),
        ("status", "status"),
        ("classes", "class"),
        ("boxes", "box"),
        ("branches", "branch"),
        ("analysis", "analysis"),
        ("series", "series"),
        ("shoes", "shoes"),
        ("js", "js"),
        ("s", "s"),
        ("", ""),
    ],
)
def test_regular_words_have_a_singular(word: str, expected: str) -> None:
    assert singular(word) == expected


@pytest.mark.parametrize(
    "words",
    [
        ("price", "prices", "pricing", "priced"),
        ("hope", "hoping"),
        ("study", "studies", "studying"),
        ("visible", "visibility"),
        ("rollback", "rollbacks"),
        ("i",),
        ("e",),
        ("",),
    ],
    ids=lambda words: words[0],
)
def test_all_forms_of_a_word_begin_with_the_beginning_of_its_stem(words: tuple[str, ...]) -> None:
    (word_stem,) = {stem(word) for word in words}
    assert all(word.startswith(beginning_of(word_stem)) for word in words)
    assert beginning_of(word_stem) or not word_stem
