"""`warren demo`: a real Kafka, groups in good and bad health, and Warren watching them, all on this machine.

behaviours.py  how each group reads: which offset it commits next. Pure; start here to add a group
workload.py    the process that writes the topics and runs the groups
stage.py       starts and stops everything: Kafka, the workload, Warren
screen.py      what is shown while it runs
run.py         the command, from start to end
"""
