"""A worker of `kbx mcp --http` that is ready, and then takes no connection."""

import socket
import sys
import time

control = socket.socket(fileno=int(sys.argv[1]))
control.sendall(b'{"ready": []}\n')
time.sleep(60)
