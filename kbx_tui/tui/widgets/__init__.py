"""Pieces of the screen: plain values in, messages out."""
