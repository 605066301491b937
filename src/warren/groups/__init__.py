"""Who the groups are: their records in the offsets topic come in, type, state, members and owners go out.

records  the newest value of every full record key
derived  the state of a group, and who owns its partitions, from those values
views    everything that is told of one group
groups   all groups of a cluster, and which of them are to be looked at anew

Pure. Offsets are not here: those are windows, and they outlive the group that committed them.
"""
