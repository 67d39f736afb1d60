# A cable between two network namespaces that loses as many frames as it is told to on stdin, from 0.0 to 1.0.
# It ends when stdin does.
import ctypes
import fcntl
import os
import random
import select
import struct
import sys

CLONE_NEWNET = 0x40000000
TUNSETIFF = 0x400454CA
TAP_WITHOUT_HEADER = 0x1002


def end_in(namespace):
    with open(namespace) as held:
        if ctypes.CDLL(None, use_errno=True).setns(held.fileno(), CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), "setns")
    end = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(end, TUNSETIFF, struct.pack("16sH", b"cable0", TAP_WITHOUT_HEADER))
    return end


ends = {}
one, other = end_in(sys.argv[1]), end_in(sys.argv[2])
ends[one], ends[other] = other, one
random.seed(1)
loss = 0.0
print("plugged in", flush=True)
while True:
    for ready in select.select([0, one, other], [], [])[0]:
        if ready == 0:
            said = os.read(0, 64)
            if not said:
                sys.exit(0)
            loss = float(said.split()[-1])
            print("loss", flush=True)
            continue
        frame = os.read(ready, 65536)
        if random.random() >= loss:
            try:
                os.write(ends[ready], frame)
            except OSError:
                pass  # the other end is not up yet
