"""Codec stage: the bytes of `__consumer_offsets` come in, typed keys and values go out.

keys            record keys: which group, topic and partition a record is about
commits         offset commit values, one at a time
commit_columns  offset commit values, many at a time: the same answers as NumPy columns
groups          classic group metadata: members and the partitions assigned to them
group_records   records about groups of every type (3 to 23), by their full keys
consumer_groups, share_groups, streams_groups, group_parts
                the values of these records, laid out with `layouts`
primitives      the wire types all of these are made of

Pure: standard library and NumPy only. Whatever the bytes are, decoding either succeeds or raises `DecodeError`.
"""
