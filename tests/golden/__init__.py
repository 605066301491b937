"""Whole answers, kept in files and compared byte for byte."""
