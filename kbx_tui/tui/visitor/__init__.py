"""The app as a web server runs it for one visitor: locked to the bases that it was given.

    python -m kbx_tui.tui.visitor --kb ROOT [--kb ROOT ...] [--allow-writes] [--scheme light|dark]

One base is opened; several are searched together. The environment variables COLUMNS and ROWS give
the size of the first screen, 80x24 without them; HOME or the XDG variables lead to the model and to
what the owner has allowed the bases. Bad options end the process with status 2 and a sentence on
stderr. The query of the address is a message, not an option: everyone on the machine can list the
options of a process.

Server and process speak the protocol of textual-serve on stdin and stdout. The process first
writes the line `__GANGLION__`; then both send packets: one byte for the kind, the length of the
payload as four bytes (big-endian), the payload. The kinds are

- `D`, from the server: what the visitor types, as a terminal sends it, in UTF-8: keys as escape
  codes, the mouse in SGR coding, pasted text in brackets; from the process: text for the terminal
  in the page, in UTF-8 with escape codes;
- `M`: a message, a JSON object with a `type`.

Messages of the server:

- `resize`, with `width` and `height` in cells: at most 600x300 are drawn;
- `focus` and `blur`: the page has the focus, or has lost it;
- `quit`: leaves the app as its own key does;
- `kbx_query`, with `query`: searches for this query; it may come before the first screen;
- `kbx_scheme`, with `scheme`, `light` or `dark`: follows the system of the visitor, unless the
  visitor has chosen another theme;
- `kbx_redraw`: sets up the terminal, draws all of the screen and sends `kbx_page` again, for a page
  that reconnects.

Messages of the process:

- `kbx_page`, with `title`, `base` and `query`, one line each: for the title and the address of the
  page; sent whenever they change; while several bases are searched, `base` says how many;
- `kbx_copy`, with `text`: for the clipboard of the browser;
- `open_url`, with `url` (`http` or `https`) and `new_tab`: a link that the visitor follows;
- `kbx_file`, with `name` (a bare file name), `mime_type` and `text`: a file for the downloads of
  the browser;
- `exit`: the app has ended.

The process ends by `quit`, by SIGTERM, at the end of its stdin, and at a packet that cannot be
read; a message that makes no sense is ignored. While nobody reads its stdout, it waits.
"""
