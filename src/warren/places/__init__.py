"""Places where groups commit that have no log: what is new in a look at them, and whose each group is."""
