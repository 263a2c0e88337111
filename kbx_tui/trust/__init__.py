"""What a base from elsewhere may do only after the user has allowed it."""
