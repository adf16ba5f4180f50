#!/usr/bin/python3
"""A camera with its own clock: rtp-sender.py PORT OFFSET LOG

Sends VP8 by RTP to 127.0.0.1:PORT, and sender reports by RTCP to PORT + 1. Its clock is OFFSET
seconds ahead of this machine's. Appends a line to LOG for each frame: its size in bytes, and its
capture time in seconds since 1970 by its own clock. Runs until it is killed.
"""
import socket
import struct
import sys
import time

import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gst

_, port, offset, path = sys.argv
Gst.init(None)
pipeline = Gst.parse_launch(
    "videotestsrc is-live=true pattern=ball ! video/x-raw,width=64,height=48,framerate=30/1 "
    "! vp8enc deadline=1 keyframe-max-dist=10 ! rtpvp8pay mtu=1400 name=pay ! appsink name=out"
)
start = time.time() + float(offset)
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
log = open(path, "w", buffering=1)
out = pipeline.get_by_name("out")
pipeline.set_state(Gst.State.PLAYING)
first, size, frames = None, 0, 0
while sample := out.emit("pull-sample"):
    packet = sample.get_buffer().extract_dup(0, sample.get_buffer().get_size())
    _, flags, _, stamp, source = struct.unpack("!BBHII", packet[:12])
    # The descriptor has two bytes more if there is a picture number, which the payloader leaves out.
    size += len(packet) - 13
    first = stamp if first is None else first
    captured = start + ((stamp - first) & 0xFFFFFFFF) / 90000
    sender.sendto(packet, ("127.0.0.1", int(port)))
    if not flags & 0x80:
        continue
    log.write(f"{size} {captured:.6f}\n")
    size, frames = 0, frames + 1
    if frames % 10 == 0:
        seconds = captured + 2208988800
        fraction = int(seconds % 1 * (1 << 32))
        report = struct.pack(
            "!BBHIIIIII", 0x80, 200, 6, source, int(seconds), fraction, stamp, frames, 0)
        sender.sendto(report, ("127.0.0.1", int(port) + 1))
