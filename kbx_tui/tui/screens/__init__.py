"""What fills the terminal. A screen arranges widgets and answers messages; it calls no engine."""
