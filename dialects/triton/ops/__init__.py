"""The ops of `tt`, a room for each kind."""
