"""The app as a web server runs it for one visitor, restricted to the bases that it was given.

    python -m kbx_tui.tui.visitor --kb ROOT [--kb ROOT ...] [--allow-writes] [--scheme light|dark]

One base is opened; several are searched together. The environment variables COLUMNS and ROWS set
the size of the first screen (default 80x24); HOME or the XDG variables locate the model and what
the owner has allowed the bases. Invalid options end the process with status 2 and a sentence on
stderr. The query in the address is sent as a message, not an option, because everyone on the
machine can list the options of a process.

Server and process use the protocol of textual-serve on stdin and stdout. The process first writes
the line `__GANGLION__`; then both send packets: one byte for the kind, the length of the payload in
four bytes (big-endian), and the payload. The kinds are

- `D`, from the server: the visitor's input in UTF-8, as a terminal sends it: keys as escape codes,
  the mouse in SGR coding, pasted text in brackets; from the process: text for the terminal in the
  page, in UTF-8 with escape codes;
- `M`: a message, a JSON object with a `type`.

Messages of the server:

- `resize`, with `width` and `height` in cells: at most 600x300 are drawn;
- `focus` and `blur`: the page has received or lost the focus;
- `quit`: leaves the app as its own key does;
- `kbx_query`, with `query`: searches for this query; it may arrive before the first screen;
- `kbx_scheme`, with `scheme`, `light` or `dark`: adapts to the visitor's system, unless the visitor
  has chosen another theme;
- `kbx_redraw`: sets up the terminal again, redraws the screen and resends `kbx_page`, for a page
  that reconnects.

Messages of the process:

- `kbx_page`, with `title`, `base` and `query`, one line each: for the title and the address of the
  page; sent whenever one changes; while several bases are searched, `base` says how many;
- `kbx_copy`, with `text`: text for the clipboard of the browser;
- `open_url`, with `url` (`http` or `https`) and `new_tab`: a link that the visitor follows;
- `kbx_file`, with `name` (a bare file name), `mime_type` and `text`: a file to download in the
  browser;
- `exit`: the app has ended.

The process ends at `quit`, at SIGTERM, at the end of its stdin, and at a malformed packet; an
invalid message is ignored. While nobody reads its stdout, it waits.
"""
