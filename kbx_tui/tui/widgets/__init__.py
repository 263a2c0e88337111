"""Widgets shared by several screens: plain values in, messages out."""
