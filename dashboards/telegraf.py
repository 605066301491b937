"""Names of what telegraf and Warren's sinks write: measurements, the tags of each, and codes of statuses."""

from __future__ import annotations

GROUP, PARTITION, TOPIC = "burrow_group", "burrow_partition", "burrow_topic"
OF_GROUP = ("cluster", "group")
OF_READER = (*OF_GROUP, "topic")
OF_PARTITION = (*OF_READER, "partition")
OF_TOPIC = ("cluster", "topic")
CLUSTER, PROCESS = "warren_cluster", "warren_process"
OF_WARREN = ("instance",)
OF_READING = (*OF_WARREN, "cluster")

OK_CODE, WARN_CODE, ERR_CODE = 1, 3, 4
