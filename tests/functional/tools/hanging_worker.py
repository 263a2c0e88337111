"""A worker of `kbx mcp --http` that says that it is alive, and then nothing more."""

import threading

print('{"alive": []}', flush=True)
threading.Event().wait(60)
