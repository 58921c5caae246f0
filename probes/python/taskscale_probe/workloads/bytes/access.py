"""The loops over bytes. Each takes the sum so far and gives the sum with these bytes; the bits that count are taken at the
end. They are written out for both sums, since a call for each byte would be most of the cost."""

from functools import partial

FNV_START = 0xCBF29CE484222325
FNV_PRIME = 0x100000001B3
FNV_MASK = 2**64 - 1


def sum8_for(total, data):
    for byte in data:
        total += byte
    return total


def fnv_for(total, data):
    for byte in data:
        total = (total ^ byte) * FNV_PRIME & FNV_MASK
    return total


def sum8_index(total, data):
    for i in range(len(data)):
        total += data[i]
    return total


def fnv_index(total, data):
    for i in range(len(data)):
        total = (total ^ data[i]) * FNV_PRIME & FNV_MASK
    return total


def sum8_sum(total, data):
    return sum(data, total)


def none(total, data):
    return total + len(data)


# --- the data is a file, or a reader of a stream


def sum8_read_1(total, file):
    read = file.read
    byte = read(1)
    while byte:
        total += byte[0]
        byte = read(1)
    return total


def fnv_read_1(total, file):
    read = file.read
    byte = read(1)
    while byte:
        total = (total ^ byte[0]) * FNV_PRIME & FNV_MASK
        byte = read(1)
    return total


def sum8_iter(total, file):
    for byte in iter(partial(file.read, 1), b""):
        total += byte[0]
    return total


def fnv_iter(total, file):
    for byte in iter(partial(file.read, 1), b""):
        total = (total ^ byte[0]) * FNV_PRIME & FNV_MASK
    return total


async def sum8_readexactly_1(total, reader, length):
    for _ in range(length):
        total += (await reader.readexactly(1))[0]
    return total


async def fnv_readexactly_1(total, reader, length):
    for _ in range(length):
        total = (total ^ (await reader.readexactly(1))[0]) * FNV_PRIME & FNV_MASK
    return total
