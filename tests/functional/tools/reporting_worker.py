"""A worker of `kbx mcp --http` that says all the time that it is alive, and accepts nothing."""

import threading

while True:
    print('{"alive": []}', flush=True)
    threading.Event().wait(0.01)
