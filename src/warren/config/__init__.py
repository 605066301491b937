"""One model for the whole configuration: Burrow's file, read and checked before anything connects."""
