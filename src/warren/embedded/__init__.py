"""A real Kafka broker on this machine, for the demo and the tests: jars, process, and a lifeline to us.

jars.py      fetches Kafka's jars once and keeps them, checked, in a cache
broker.py    runs one broker in KRaft mode
trust.py     lends a Java the machine's certificate authorities
lifeline.py  ends our children when we are gone, however we went

Nothing here is used by the monitor itself.
"""
