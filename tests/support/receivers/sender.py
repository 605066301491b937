"""Process that delivers the messages of an outbox until none is left or it is killed. Arguments: FILE ADDRESS."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from warren.machine.backoff import Backoff
from warren.notify.batches import Grouping
from warren.notify.database import Database
from warren.notify.delivery import Delivery, Notifier
from warren.notify.outbox import Outbox
from warren.notify.pace import Pace
from warren.notify.receivers.burrow_http import Http, HttpCall, HttpSettings


def main(path: str, address: str) -> None:
    database = Database(Path(path))
    outbox = Outbox(database)
    receiver = Http(HttpSettings(HttpCall(lambda event: address, lambda event: event.key)))
    pace = Pace(per_minute=1e9, burst=1_000_000, backoff=Backoff(0.05, 0.5))
    notifier = Notifier(receiver, Grouping(), pace)
    delivery = Delivery(outbox, {"web": notifier}, lambda: time.time_ns() // 1_000_000)
    delivery.start()
    while outbox.results("web").waiting:
        delivery.wake()
        time.sleep(0.05)
    delivery.stop()
    database.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
