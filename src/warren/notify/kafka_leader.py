"""Leadership by Kafka itself: the member of a consumer group that has the first partition of the offsets topic.

Nothing is read and nothing is committed; no topic has to be made. Brokers give each partition to one member only, and
take it away from one that is silent.
"""

from __future__ import annotations

import threading

import structlog
from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from warren.kafka.clients import ClientConfig, library_settings, right
from warren.notify.lease import Lease

log = structlog.get_logger()

GROUP = "warren-leader"
TOPIC = "__consumer_offsets"
FIRST = 0
SESSION_S = 8.0
HEARTBEATS_A_SESSION = 4
POLL_S = 0.5
LEADING = "leading"


class KafkaLeader:
    """Stands for leadership in a thread of its own."""

    def __init__(self, client: ClientConfig, group: str = GROUP, session_s: float = SESSION_S) -> None:
        self._group = group
        self._heartbeat_s = session_s / HEARTBEATS_A_SESSION
        self._config = {
            **library_settings(client),
            "group.id": group,
            "session.timeout.ms": int(session_s * 1000),
            "heartbeat.interval.ms": int(self._heartbeat_s * 1000),
            "max.poll.interval.ms": 60_000,
            "enable.auto.commit": False,
            "auto.offset.reset": "latest",
            "partition.assignment.strategy": "range",
            "log_level": 0,
        }
        self._lease = Lease(session_s)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="leader", daemon=True)
        self.says = "waiting for the brokers"

    @property
    def is_leader(self) -> bool:
        """Whether it is, now."""
        return self._lease.holds

    def start(self) -> None:
        """Begin to stand for it."""
        self._thread.start()

    def stop(self) -> None:
        """Leave the group, so that another member has the partition at once."""
        self._lease.give_up()
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self._stand()
            except KafkaException as error:
                log.warning("leadership could not be asked for", error=error.args[0].str())
                self._stop.wait(self._heartbeat_s)
            self._lease.give_up()

    def _stand(self) -> None:
        """Be a member until told to stop, or until this process finds that it slept for too long."""
        consumer = Consumer(self._config)
        try:
            consumer.subscribe([TOPIC], on_assign=self._on_assign, on_revoke=self._on_lost, on_lost=self._on_lost)
            while not self._stop.is_set():
                self._listen(consumer.poll(POLL_S))
                was_leader = self.says == LEADING
                if was_leader and not self._lease.holds:
                    self.says = "lost: this process was asleep"
                    log.warning("leadership ran out, standing for it again")
                    return
                self._lease.confirm()
        finally:
            consumer.close()

    def _listen(self, message: Message | None) -> None:
        """Nothing is read, so whatever comes is an error; it is told once, and in the state of the leader."""
        error = message.error() if message is not None else None
        if error is None:
            return
        says = f"waiting: {error.str()}"
        if error.code() == KafkaError.GROUP_AUTHORIZATION_FAILED:
            says += f"; it needs: {right(self._config, ('Read',), f'--group {self._group}')}"
        if says != self.says:
            log.warning("leadership could not be asked for", error=says)
        self.says = says

    def _on_assign(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        consumer.assign(partitions)
        if partitions:
            consumer.pause(partitions)
        if any(one.partition == FIRST for one in partitions):
            self._lease.take()
            self.says = LEADING
            log.info("this Warren notifies")
        else:
            self.says = "waiting: another Warren leads"

    def _on_lost(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        if self._lease.holds:
            log.info("this Warren no longer notifies")
        self._lease.give_up()
        self.says = "waiting: another Warren leads"
