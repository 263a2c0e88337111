"""A worker of `kbx mcp --http` that is ready, and then takes no connection."""

import socket
import sys
import threading

control = socket.socket(fileno=int(sys.argv[1]))
control.sendall(b'{"ready": []}\n')
threading.Event().wait(60)
