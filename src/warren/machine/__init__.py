"""What Warren needs of its machine, and owes it: Java, a cache, threads, a process with its files and logs."""
