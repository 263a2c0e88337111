"""Builds what the page of `kbx web` takes from others: xterm.js and its font.

    npm pack @xterm/xterm@6.0.0 @xterm/addon-fit@0.11.0 @xterm/addon-unicode11@0.9.0
    uv run --with fonttools --with brotli python -m scripts.build_web_page XTERM FIT UNICODE FONTS

XTERM, FIT and UNICODE are the unpacked packages, whose files are copied as they are. FONTS is a
folder with DejaVuSansMono.ttf and DejaVuSansMono-Bold.ttf 2.37 (Debian: fonts-dejavu-core): the
scripts that most notes use are kept of them, and Braille, which they lack and curves are drawn
with, is added. A line becomes twice as high as a letter is wide, and blocks and box drawing are
stretched to fill it: at whole pixels both join without gaps.
"""

from __future__ import annotations

import hashlib
import shutil
import sys
from pathlib import Path

from fontTools import subset  # type: ignore[import-not-found]
from fontTools.pens.recordingPen import DecomposingRecordingPen  # type: ignore[import-not-found]
from fontTools.pens.transformPen import TransformPen  # type: ignore[import-not-found]
from fontTools.pens.ttGlyphPen import TTGlyphPen  # type: ignore[import-not-found]
from fontTools.ttLib import TTFont  # type: ignore[import-not-found]

VENDOR = Path(__file__).parent.parent / "kbx_tui" / "web" / "page" / "vendor"
KEPT = (
    (0x20, 0x7E), (0xA0, 0x24F), (0x2B0, 0x36F), (0x370, 0x3FF), (0x400, 0x52F), (0x1E00, 0x1EFF),
    (0x2000, 0x20BF), (0x2100, 0x23FF), (0x2500, 0x27BF), (0xFB01, 0xFB02), (0xFFFD, 0xFFFD),
)  # fmt: skip
"""Latin, Greek, Cyrillic, punctuation, arrows, mathematics, box drawing, blocks, shapes."""
JOINED = range(0x2500, 0x25A0)
"""Box drawing and blocks."""
FULL_BLOCK = 0x2588
BRAILLE = 0x2800
DOTS = ((0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (0, 3), (1, 3))
"""Column and row of the dot that each bit of a Braille character stands for."""


def main() -> None:
    """Build the folder `vendor` from the four folders named on the command line."""
    xterm, fit, unicode, fonts = map(Path, sys.argv[1:5])
    VENDOR.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(xterm / "lib" / "xterm.mjs", VENDOR / "xterm.mjs")
    shutil.copyfile(xterm / "css" / "xterm.css", VENDOR / "xterm.css")
    shutil.copyfile(xterm / "LICENSE", VENDOR / "LICENSE-xterm.txt")
    shutil.copyfile(fit / "lib" / "addon-fit.mjs", VENDOR / "addon-fit.mjs")
    shutil.copyfile(unicode / "lib" / "addon-unicode11.mjs", VENDOR / "addon-unicode11.mjs")
    for source, target in (("DejaVuSansMono", "mono"), ("DejaVuSansMono-Bold", "mono-bold")):
        build_font(fonts / f"{source}.ttf", VENDOR / f"{target}.woff2")
    for file in sorted(VENDOR.glob("[!O]*")):
        print(f"| {file.name} | {hashlib.sha256(file.read_bytes()).hexdigest()} |")


def build_font(source: Path, target: Path) -> None:
    """Write the kept characters of a font, and Braille, as WOFF2."""
    font = TTFont(source, recalcTimestamp=False)
    set_line_height(font)
    add_braille(font)
    options = subset.Options()
    options.drop_tables += ["FFTM"]
    chosen = subset.Subsetter(options)
    kept = [code for first, last in KEPT for code in range(first, last + 1)]
    chosen.populate(unicodes=[*kept, *range(BRAILLE, BRAILLE + 256)])
    chosen.subset(font)
    font.flavor = "woff2"
    font.save(target)


def set_line_height(font: TTFont) -> None:
    """Make lines twice as high as letters are wide, and what joins as high as lines."""
    ascent, descent = font["hhea"].ascent, -font["hhea"].descent
    more = 2 * font["hmtx"]["A"][0] - ascent - descent
    ascent, descent = ascent + more // 2, descent + more - more // 2
    font["hhea"].ascent, font["hhea"].descent, font["hhea"].lineGap = ascent, -descent, 0
    table = font["OS/2"]
    table.sTypoAscender, table.sTypoDescender, table.sTypoLineGap = ascent, -descent, 0
    table.usWinAscent, table.usWinDescent = ascent, descent
    names, glyphs = font.getBestCmap(), font.getGlyphSet()
    block = font["glyf"][names[FULL_BLOCK]]
    stretch = (ascent + descent) / (block.yMax - block.yMin)
    shift = -descent - block.yMin * stretch
    for name in {names[code] for code in JOINED if code in names}:
        recorded, pen = DecomposingRecordingPen(glyphs), TTGlyphPen(None)
        glyphs[name].draw(recorded)
        recorded.replay(TransformPen(pen, (1, 0, 0, stretch, 0, shift)))
        font["glyf"][name] = pen.glyph()


def add_braille(font: TTFont) -> None:
    """Add the 256 patterns of dots, each filling its cell so that curves join."""
    width, top, bottom = font["hmtx"]["A"][0], font["hhea"].ascent, font["hhea"].descent
    column, row = width / 2, (top - bottom) / 4
    side = round(column * 0.52)
    for pattern in range(256):
        pen = TTGlyphPen(None)
        for bit, (x, y) in enumerate(DOTS):
            if pattern >> bit & 1:
                left = round(column * (x + 0.5) - side / 2)
                low = round(top - row * (y + 0.5) - side / 2)
                corners = [(0, 0), (0, side), (side, side), (side, 0)]
                pen.moveTo((left, low))
                for dx, dy in corners[1:]:
                    pen.lineTo((left + dx, low + dy))
                pen.closePath()
        name = f"uni{BRAILLE + pattern:04X}"
        glyph = pen.glyph()
        font["glyf"][name] = glyph
        font["hmtx"][name] = (width, getattr(glyph, "xMin", 0) if pattern else 0)
        for table in font["cmap"].tables:
            if table.isUnicode():
                table.cmap[BRAILLE + pattern] = name


if __name__ == "__main__":
    main()
