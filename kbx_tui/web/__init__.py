"""The app in a browser: a small web server that gives each visitor a process of the app.

This package starts the processes and relays messages between them and the pages; it depends on
neither Textual nor the engine.
"""
