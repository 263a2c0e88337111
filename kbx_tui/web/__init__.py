"""The app in a browser: a small web server that gives each visitor a process of the app.

This package starts the processes and passes on what they and the pages say; it knows neither
Textual nor the engine.
"""
