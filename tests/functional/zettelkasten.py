"""A vault of forty plain notes that are known by their file names: no headings, only wikilinks."""

from pathlib import Path

NOTES = {
    "Zettelkasten method": (
        "Niklas Luhmann kept ninety thousand slips in wooden drawers. Each slip held one thought, "
        "carried a number and pointed to others. He wrote every slip in full sentences, as if "
        "for a reader who knew nothing.\n\nThe value is in the connections: a slip without "
        "neighbours is lost. See [[Evergreen notes]], [[Folgezettel]] and [[Index cards]]."
    ),
    "Evergreen notes": (
        "Notes that are written to grow over years. They are titled by a claim and rewritten when "
        "the claim changes. A close relative of the [[Zettelkasten method]], but without numbers."
    ),
    "Folgezettel": (
        "A numbering that lets a slip follow another: 21, 21a, 21a1. In a zettelkasten the number "
        "is an address and never changes. Programs need none: [[Links between notes]] replace "
        "it.\n\nCompare [[Zettelkasten method]]."
    ),
    "Index cards": "A6 cards, 190 g paper. A zettelkasten of paper needs about two drawers a year.",
    "Links between notes": (
        "A link says why: write the reason beside it. Folders hold a note in one place, links in "
        "many. The [[Zettelkasten method]] lives by them."
    ),
    "Fleeting notes": (
        "Scribbles of the day, thrown away after two days. What stays becomes one of the "
        "[[Evergreen notes]]."
    ),
    "Literature notes": (
        "One note per book in my own words, with page numbers. Feeds the zettelkasten; see "
        "[[How to read a book]]."
    ),
    "Note taking apps": (
        "Tried four programs in two years. Plain markdown files outlive them all. Zettelkasten "
        "plugins: two, both abandoned."
    ),
    "Weekly review": (
        "Friday, forty minutes: empty the inbox, look at the calendar, choose three things for "
        "next week. Walk the newest notes of the zettelkasten and link what stands alone."
    ),
    "How to read a book": (
        "Adler's four levels: elementary, inspectional, analytical, syntopical. Read the contents "
        "first and ask what the author wants to answer."
    ),
    "Spaced repetition": (
        "Intervals that double: one day, two, four, eight. Works for facts and badly for ideas. "
        "[[Memory palace]] is for lists."
    ),
    "Memory palace": "Walk through a known house and leave an image in each room. Ten in all.",
    "Sourdough starter": (
        "Fifty grams of rye flour and fifty of water, every day at the same hour. It is ready when "
        "it doubles within six hours. Needed for [[Rye bread]]."
    ),
    "Rye bread": (
        "Seventy per cent rye, thirty per cent wheat. Bake for an hour, falling from 250 to 200 "
        "degrees. Wait a day before cutting. The [[Sourdough starter]] must be young."
    ),
    "Kitchen inventory": "Flour, salt, lentils, three tins of tomatoes. Buy rye and caraway.",
    "Pickled cucumbers": "Five per cent brine, dill, a vine leaf. Ready after ten days.",
    "Compost heap": (
        "Brown and green in layers, never meat. Turn it in April and October. The worms come by "
        "themselves. Feeds the [[Raised beds]]."
    ),
    "Raised beds": (
        "Larch boards, 40 cm high, lined against rot. Filled with branches, leaves and finished "
        "earth from the [[Compost heap]]."
    ),
    "Tomato varieties": (
        "Oxheart for sauce, Black Krim for salad. Both want a roof against the rain. Planted after "
        "the ice saints in the [[Raised beds]]."
    ),
    "Seed calendar": "February peppers, March tomatoes, May beans. See [[Tomato varieties]].",
    "Bicycle maintenance": (
        "Chain every 300 km, brake pads when the grooves are gone. Torque of the stem: 5 Nm. Tools "
        "hang in the [[Workshop]]."
    ),
    "Workshop": "Bench, vice, two lamps. The drill press needs a new belt.",
    "Commuting by train": (
        "The 7:12 is full, the 7:42 is late. Reading time: 35 minutes each way, enough for "
        "[[Literature notes]]."
    ),
    "Packing list": "Passport, charger, rain jacket, two books. Never three pairs of shoes.",
    "Walking the coast path": (
        "Six days from Minehead to Padstow with a light tent. Water at every church. The blisters "
        "came on day two; see [[Packing list]]."
    ),
    "Tent repair": "Seam sealer on a dry day, two coats. Spare poles are in the [[Workshop]].",
    "Piano practice": (
        "Twenty slow minutes beat an hour of playing through. Metronome at 60, hands apart. "
        "[[Deliberate practice]] explains why."
    ),
    "Deliberate practice": (
        "Work at the edge of what one can do, with feedback at once. Ericsson never said ten "
        "thousand hours."
    ),
    "Chess openings": "The London system: the same five moves against nearly everything.",
    "Sleep": (
        "No screens after ten, the window open. Caffeine has a half-life of five hours. "
        "[[Weekly review]] shows that bad weeks begin with short nights."
    ),
    "Running plan": "Three runs a week: one long, one slow, one with hills.",
    "Stoicism": (
        "Some things are up to us and others are not. Epictetus was a slave, Marcus an emperor; "
        "they agree. Read a page before [[Sleep]]."
    ),
    "Daily pages": "Three pages by hand before breakfast. Nobody reads them, not even I.",
    "Budget": "Rent, food, train, savings. Reviewed in the [[Weekly review]].",
    "Letters to write": "Aunt Ida, the landlord, the tax office. Ida first.",
    "Gift ideas": "A jar of [[Pickled cucumbers]], a loaf of [[Rye bread]], a book token.",
    "Film list": "Stalker, Playtime, The Third Man. Watch Playtime on a large screen.",
    "German words": (
        "Zettel: a slip of paper. Kasten: a box. Feierabend: the evening after work. Words that "
        "English borrows: zettelkasten, kindergarten."
    ),
    "House repairs": "Gutter in autumn, boiler in spring. The plumber is called Emre.",
    "Reading list": (
        "Ahrens, How to Take Smart Notes, on the [[Zettelkasten method]]. Solnit, Wanderlust. "
        "Adler, see [[How to read a book]]."
    ),
}
"""Text of each note by its title, which only the file name states."""


def write_zettelkasten(root: Path) -> Path:
    """Write the notes below `root` and return it."""
    folder = root / "memory" / "notes"
    folder.mkdir(parents=True)
    for title, text in NOTES.items():
        (folder / f"{title}.md").write_text(f"{text}\n", encoding="utf-8")
    return root
