"""What Warren needs of the machine it runs on: a Java, and a place for what is made or fetched once."""
