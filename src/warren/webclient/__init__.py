"""The one HTTP client of the house: for notifiers and sinks."""
