"""What would have been said under other rules: the history of a cluster, judged again by a Spark job."""
