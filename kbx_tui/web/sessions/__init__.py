"""Sessions: the processes of the app, and what they and their pages say to each other."""
