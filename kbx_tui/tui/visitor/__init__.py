"""The app as a web server runs it for one visitor: locked to the bases that it was given."""
