"""Codec stage, lowest layer: Kafka's wire types, read from and written to bytes.

Bytes come in, Python values go out. All integers are big-endian. Kafka has two encodings of the same fields: the plain
one (`Reader`, `Writer`) and the "flexible" one of newer versions (`CompactReader`, `CompactWriter`), which differs only
in how lengths are written and in the tag section that ends every struct. So a decoder is written once and given the
reader its version needs.
"""

from __future__ import annotations

import struct

from warren.errors import DecodeError

MALFORMED = "malformed"

TOLD_NUMBERS = 100
"""Versions and record types that Kafka may come to have one day are counted each on its own, the others together."""

MOST_PARTITIONS = 100_000
"""A partition number from here on is not believed: Kafka makes 10,000 partitions in one request at most.

On the wire any number up to 2**31 - 1 fits, and the windows of a topic take memory for each partition up to the
highest: one such record must not take all there is.
"""

UVARINT_MAX_BYTES = 5
UUID_BYTES = 16


def malformed(message: str) -> DecodeError:
    """The error for bytes that cannot be what they claim to be."""
    return DecodeError(MALFORMED, message)


def version_kind(name: str, version: int) -> str:
    """The name under which an unknown version of `name` is counted."""
    return f"{name} version {numbered(version)}"


def numbered(number: int) -> str:
    """A number in the name that something is counted under; wild ones are one, for each name is kept for good."""
    return str(number) if 0 <= number < TOLD_NUMBERS else "beyond all known"


class Reader:
    """Reads plain fields one after another; every failure is a `DecodeError`, and bytes left over are tolerated."""

    __slots__ = ("_at", "_data")

    def __init__(self, data: bytes | memoryview, at: int = 0) -> None:
        self._data = bytes(data)
        self._at = at

    @property
    def remaining(self) -> int:
        return len(self._data) - self._at

    def take(self, size: int) -> bytes:
        """The next `size` bytes; `size` is not negative."""
        at = self._at
        if size > len(self._data) - at:
            message = f"{size} bytes wanted at byte {at}, {self.remaining} left"
            raise malformed(message)
        self._at = at + size
        return self._data[at : at + size]

    def int8(self) -> int:
        return int.from_bytes(self.take(1), "big", signed=True)

    def int16(self) -> int:
        return int.from_bytes(self.take(2), "big", signed=True)

    def uint16(self) -> int:
        return int.from_bytes(self.take(2), "big")

    def int32(self) -> int:
        return int.from_bytes(self.take(4), "big", signed=True)

    def int64(self) -> int:
        return int.from_bytes(self.take(8), "big", signed=True)

    def uuid(self) -> bytes:
        return self.take(UUID_BYTES)

    def string(self, errors: str = "strict") -> str:
        """A string that may not be null; `errors` as in `bytes.decode`."""
        text = self.nullable_string(errors)
        if text is None:
            message = "null where a string is required"
            raise malformed(message)
        return text

    def nullable_string(self, errors: str = "strict") -> str | None:
        data = self._sized(self._string_size())
        try:
            return None if data is None else data.decode("utf-8", errors)
        except UnicodeDecodeError as error:
            message = f"string is not UTF-8: {error.reason}"
            raise malformed(message) from error

    def blob(self) -> bytes:
        """Bytes that may not be null."""
        data = self._sized(self._long_size())
        if data is None:
            message = "null where bytes are required"
            raise malformed(message)
        return data

    def count(self, item_size: int = 1) -> int:
        """The number of items of an array that may not be null.

        `item_size` is the least number of bytes of one item: a count that cannot fit is refused before anything is
        allocated for it.
        """
        count = self._long_size()
        if count < 0 or count * item_size > self.remaining:
            message = f"array of {count} items with {self.remaining} bytes left"
            raise malformed(message)
        return count

    def nullable_count(self, item_size: int = 1) -> int | None:
        """The same for an array that may be null."""
        at = self._at
        if self._long_size() == -1:
            return None
        self._at = at
        return self.count(item_size)

    def int32_array(self) -> list[int]:
        count = self.count(item_size=4)
        return list(struct.unpack(f">{count}i", self.take(4 * count)))

    def partition(self) -> int:
        """The number of a partition that a topic can have."""
        return _checked_partitions([self.int32()])[0]

    def partitions(self) -> list[int]:
        return _checked_partitions(self.int32_array())

    def tags(self) -> dict[int, bytes]:
        """The tagged fields that end a struct: none in the plain encoding."""
        return {}

    def _string_size(self) -> int:
        return self.int16()

    def _long_size(self) -> int:
        return self.int32()

    def _sized(self, size: int) -> bytes | None:
        if size == -1:
            return None
        if size < 0:
            message = f"length {size}"
            raise malformed(message)
        return self.take(size)


class CompactReader(Reader):
    """Reads the flexible encoding: every length is an unsigned varint of the length plus one, 0 being null."""

    __slots__ = ()

    def uvarint(self) -> int:
        value = 0
        for shift in range(0, 7 * UVARINT_MAX_BYTES, 7):
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
        message = f"varint of more than {UVARINT_MAX_BYTES} bytes"
        raise malformed(message)

    def tags(self) -> dict[int, bytes]:
        """The tagged fields by number, not interpreted; of a number written twice the last counts, as in Kafka."""
        count = self.uvarint()
        if count * 2 > self.remaining:
            message = f"{count} tagged fields with {self.remaining} bytes left"
            raise malformed(message)
        return dict(self._tag() for _ in range(count))

    def _tag(self) -> tuple[int, bytes]:
        number = self.uvarint()
        return number, self.take(self.uvarint())

    def _string_size(self) -> int:
        return self.uvarint() - 1

    def _long_size(self) -> int:
        return self.uvarint() - 1


def _checked_partitions(numbers: list[int]) -> list[int]:
    if numbers and not 0 <= min(numbers) <= max(numbers) < MOST_PARTITIONS:
        message = f"partition {min(numbers) if min(numbers) < 0 else max(numbers)}"
        raise malformed(message)
    return numbers


def open_value(value: bytes, name: str, versions: range, flexible_from: int) -> tuple[int, Reader]:
    """The version of a record value, and a reader of that version's encoding placed behind it."""
    version = Reader(value).int16()
    if version not in versions:
        message = f"{name} of version {version}; versions {versions.start} to {versions.stop - 1} are known"
        raise DecodeError(version_kind(name, version), message)
    reader = CompactReader if version >= flexible_from else Reader
    return version, reader(value, at=2)


class Writer:
    """Writes plain fields one after another; values that do not fit their field are the caller's mistake."""

    def __init__(self) -> None:
        self._data = bytearray()

    def done(self) -> bytes:
        return bytes(self._data)

    def int8(self, value: int) -> None:
        self._data += value.to_bytes(1, "big", signed=True)

    def int16(self, value: int) -> None:
        self._data += value.to_bytes(2, "big", signed=True)

    def uint16(self, value: int) -> None:
        self._data += value.to_bytes(2, "big")

    def int32(self, value: int) -> None:
        self._data += value.to_bytes(4, "big", signed=True)

    def int64(self, value: int) -> None:
        self._data += value.to_bytes(8, "big", signed=True)

    def uuid(self, value: bytes) -> None:
        self._data += value

    def string(self, text: str | None) -> None:
        data = None if text is None else text.encode()
        self._string_size(-1 if data is None else len(data))
        self._data += data or b""

    def blob(self, data: bytes) -> None:
        self.count(len(data))
        self._data += data

    def count(self, count: int) -> None:
        self.int32(count)

    def tags(self, fields: dict[int, bytes]) -> None:
        """End a struct; the plain encoding has no place for tagged fields, so they are left out."""

    def _string_size(self, size: int) -> None:
        self.int16(size)


class CompactWriter(Writer):
    """Writes the flexible encoding."""

    def uvarint(self, value: int) -> None:
        while value >= 0x80:
            self._data.append(value & 0x7F | 0x80)
            value >>= 7
        self._data.append(value)

    def count(self, count: int) -> None:
        self.uvarint(count + 1)

    def tags(self, fields: dict[int, bytes]) -> None:
        self.uvarint(len(fields))
        for number, data in sorted(fields.items()):
            self.uvarint(number)
            self.uvarint(len(data))
            self._data += data

    def _string_size(self, size: int) -> None:
        self.uvarint(size + 1)


def start_value(version: int, name: str, versions: range, flexible_from: int) -> Writer:
    """A writer of the encoding of `version`, with the version already written."""
    if version not in versions:
        message = f"{name} has no version {version}"
        raise ValueError(message)
    writer = CompactWriter() if version >= flexible_from else Writer()
    writer.int16(version)
    return writer
