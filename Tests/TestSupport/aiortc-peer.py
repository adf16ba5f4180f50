#!/usr/bin/python3
"""A peer of another kind, with Debian's python3-aiortc: aiortc-peer.py ROLE URL [OPTION...]

  play URL    gets pictures and sound by WHEP
  send URL    sends numbered pictures and a tone of 440 Hz by WHIP
  serve ADDRESS:PORT   takes WHIP at /whip, plays it to whoever comes to /whep, and numbered pictures while
              nobody sends; prints "listening"

  --token TEXT        the bearer token that is sent, or that serve demands
  --codec NAME        H264 or VP8: the only one that is offered
  --pictures N        ends after N pictures; serve, and send, print "enough" and go on
  --sound N           and after N blocks of sound
  --seconds S         ends after S seconds (280), to end a hang; SIGTERM ends it sooner
  --turn URL USER CREDENTIAL   of a TURN server
  --insecure          takes any certificate

Prints one line, a JSON object: pictures, sound (blocks), numbers (of the last 300 pictures), worst and mean
(how far colours are off, of whole pictures), state, and error where there was one. The layout of numbered
pictures is that of NumberedPictures.swift.
"""
import argparse
import asyncio
import fractions
import json
import os
import signal
import ssl
import sys
import threading
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urljoin

import av
import av.logging
import numpy
from aiortc import (RTCConfiguration, RTCIceServer, RTCPeerConnection, RTCRtpSender, RTCSessionDescription,
                    VideoStreamTrack)
from aiortc.codecs import HEADER_EXTENSIONS
from aiortc.contrib.media import MediaRelay
from aiortc.mediastreams import AudioStreamTrack

# Version 1.4 offers ID 2 for one video and one audio header extension, although both share a
# transport, and fails when a packet has that ID.
for extension in HEADER_EXTENSIONS["audio"]:
    if extension.uri.endswith("ssrc-audio-level"):
        extension.id = 3

av.logging.set_level(av.logging.ERROR)
COLOURS = [(200, 60, 40), (40, 160, 60), (50, 70, 190), (128, 128, 128)]
EDGE = 4


def numbered(number, width=160, height=120):
    """The pixels of a numbered picture."""
    blocks = numpy.zeros((4, 8, 3), numpy.uint8)
    for column in range(8):
        blocks[:2, column] = COLOURS[column // 2]
        bit = number >> (7 - column) & 1
        blocks[2, column], blocks[3, column] = 255 * bit, 255 * (1 - bit)
    return blocks.repeat(height // 4, 0).repeat(width // 8, 1)


def reading(pixels):
    """(number, worst, mean): what a numbered picture says, and how far its colours are off."""
    height, width, _ = pixels.shape
    row = pixels[int(2.5 * height / 4), :, 1]
    number = 0
    for column in range(8):
        number = number * 2 + int(row[int((column + 0.5) * width / 8)] > 127)
    off = numpy.abs(pixels.astype(int) - numbered(number, width, height))
    off = off.reshape(4, height // 4, 8, width // 8, 3)[:, EDGE:-EDGE, :, EDGE:-EDGE]
    return number, int(off.max()), float(off.mean())


class Pictures(VideoStreamTrack):
    """Numbered pictures, 15 a second."""

    number = 0

    def __init__(self, sent=lambda number: None):
        super().__init__()
        self.sent = sent

    async def recv(self):
        await self.next_timestamp()
        pts, time_base = await self.next_timestamp()
        frame = av.VideoFrame.from_ndarray(numbered(self.number & 255), format="rgb24")
        self.number += 1
        self.sent(self.number)
        frame.pts, frame.time_base = pts, time_base
        return frame


class Tone(AudioStreamTrack):
    """440 Hz, 48 kHz, mono."""

    async def recv(self):
        frame = await super().recv()  # Silence at 8 kHz, with the timestamps.
        count, first = 960, frame.pts * 6
        samples = 8000 * numpy.sin(2 * numpy.pi * 440 * (first + numpy.arange(count)) / 48000)
        tone = av.AudioFrame.from_ndarray(samples.astype(numpy.int16).reshape(1, -1), layout="mono")
        tone.sample_rate, tone.pts, tone.time_base = 48000, first, fractions.Fraction(1, 48000)
        return tone


class Report:
    """What has come so far."""

    def __init__(self, options):
        self.pictures, self.sound, self.worst, self.mean = 0, 0, 0, 0.0
        self.numbers, self.state, self.error = [], "new", None
        self.enough, self.ends = (options.pictures, options.sound), options.role == "play"
        self.is_over, self.has_enough = asyncio.Event(), False
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, self.is_over.set)

    def look(self):
        pictures, sound = self.enough
        if self.has_enough or not pictures or self.pictures < pictures or self.sound < sound:
            return
        self.has_enough = True
        if self.ends:
            self.is_over.set()
        else:
            print("enough", flush=True)

    async def watch(self, track):
        try:
            while True:
                frame = await track.recv()
                if track.kind == "audio":
                    self.sound += 1
                    self.look()
                    continue
                self.pictures += 1
                number, worst, mean = reading(frame.to_ndarray(format="rgb24"))
                self.numbers = (self.numbers + [number])[-300:]
                self.worst, self.mean = max(self.worst, worst), max(self.mean, mean)
                self.look()
        except Exception as error:  # MediaStreamError marks the end.
            if type(error).__name__ != "MediaStreamError":
                self.error = repr(error)

    def print(self):
        names = ["pictures", "sound", "numbers", "worst", "mean", "state", "error"]
        print(json.dumps({name: getattr(self, name) for name in names}), flush=True)


def connection(options, report=None):
    servers = []
    if options.turn:
        url, user, credential = options.turn
        servers.append(RTCIceServer(urls=url, username=user, credential=credential))
    # An empty list: the default is a STUN server that is unreachable here.
    peer = RTCPeerConnection(RTCConfiguration(iceServers=servers))
    if report:
        @peer.on("connectionstatechange")
        def changed():
            report.state = peer.connectionState
    return peer


def prefer(transceiver, codec):
    if codec:
        found = RTCRtpSender.getCapabilities("video").codecs
        transceiver.setCodecPreferences([x for x in found if x.mimeType.lower() == f"video/{codec}".lower()])


def request(options, method, url, body=None):
    """(status, text, the resource's address)"""
    headers = {"Content-Type": "application/sdp"}
    if options.token:
        headers["Authorization"] = f"Bearer {options.token}"
    call = urllib.request.Request(url, data=body and body.encode(), headers=headers, method=method)
    context = ssl._create_unverified_context() if options.insecure else None
    with urllib.request.urlopen(call, timeout=280, context=context) as reply:
        return reply.status, reply.read().decode(), urljoin(url, reply.headers.get("Location") or url)


async def client(options):
    report = Report(options)
    peer = connection(options, report)
    watches = []
    if options.role == "play":
        prefer(peer.addTransceiver("video", direction="recvonly"), options.codec)
        peer.addTransceiver("audio", direction="recvonly")
        peer.on("track", lambda track: watches.append(asyncio.ensure_future(report.watch(track))))
    else:
        def sent(number):
            report.pictures = number
            report.look()
        pictures = Pictures(sent)
        prefer(peer.addTransceiver(pictures, direction="sendonly"), options.codec)
        peer.addTransceiver(Tone(), direction="sendonly")
    resource = None
    try:
        await peer.setLocalDescription(await peer.createOffer())
        run = asyncio.get_running_loop().run_in_executor
        status, answer, resource = await run(
            None, request, options, "POST", options.url, peer.localDescription.sdp)
        await peer.setRemoteDescription(RTCSessionDescription(answer, "answer"))
        print("connecting", file=sys.stderr, flush=True)
        try:
            await asyncio.wait_for(report.is_over.wait(), options.seconds)
        except asyncio.TimeoutError:
            pass
        await run(None, request, options, "DELETE", resource)
    except urllib.error.HTTPError as error:
        report.error = f"HTTP {error.code}"
    except Exception as error:
        report.error = repr(error)
    report.print()
    try:
        await asyncio.wait_for(peer.close(), 2)
    except asyncio.TimeoutError:
        pass


class Server:
    """One sender, any number of players."""

    def __init__(self, options):
        self.options, self.relay, self.peers, self.tracks = options, MediaRelay(), {}, {}
        self.report = Report(options)

    async def post(self, path, offer):
        peer = connection(self.options, self.report)
        if path == "/whip":
            def took(track):
                self.tracks[track.kind] = track
                asyncio.ensure_future(self.report.watch(self.relay.subscribe(track)))
            peer.on("track", took)
        await peer.setRemoteDescription(RTCSessionDescription(offer, "offer"))
        if path == "/whep":
            for transceiver in peer.getTransceivers():
                kind = transceiver.kind
                track = self.tracks.get(kind)
                made = Pictures() if kind == "video" else Tone()
                peer.addTrack(self.relay.subscribe(track) if track else made)
        await peer.setLocalDescription(await peer.createAnswer())
        name = f"{path}/{len(self.peers)}"
        self.peers[name] = peer
        return name, peer.localDescription.sdp

    async def delete(self, path):
        peer = self.peers.get(path)
        if peer:
            self.peers[path] = None
            await peer.close()
        return peer is not None


async def serve(options):
    loop, server = asyncio.get_running_loop(), Server(options)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self, status, body="", **headers):
            self.send_response(status)
            data = body.encode()
            for name, value in {"Access-Control-Allow-Origin": "*", "Content-Length": len(data), **headers}.items():
                self.send_header(name.replace("_", "-"), str(value))
            self.end_headers()
            self.wfile.write(data)

        def may(self):
            if not options.token or self.headers.get("Authorization") == f"Bearer {options.token}":
                return True
            self.answer(401, WWW_Authenticate="Bearer")
            return False

        def do_POST(self):
            body = self.rfile.read(min(int(self.headers.get("Content-Length", 0)), 1 << 20)).decode()
            if not self.may():
                return
            if self.path not in ("/whip", "/whep"):
                return self.answer(404)
            if self.headers.get("Content-Type") != "application/sdp":
                return self.answer(415)
            try:
                posting = asyncio.run_coroutine_threadsafe(server.post(self.path, body), loop)
                name, sdp = posting.result(280)
            except Exception as error:
                return self.answer(400, repr(error))
            self.answer(201, sdp, Content_Type="application/sdp", Location=name, ETag='"1"',
                        Access_Control_Expose_Headers="Location")

        def do_DELETE(self):
            if self.may():
                found = asyncio.run_coroutine_threadsafe(server.delete(self.path), loop).result(280)
                self.answer(200 if found else 404)

        def do_OPTIONS(self):
            self.answer(204, Access_Control_Allow_Methods="POST, PATCH, DELETE",
                        Access_Control_Allow_Headers="Authorization, Content-Type")

        def do_PATCH(self):
            self.answer(405)

        def log_message(self, *arguments):
            pass

    address, port = options.url.rsplit(":", 1)
    listener = ThreadingHTTPServer((address, int(port)), Handler)
    threading.Thread(target=listener.serve_forever, daemon=True).start()
    print("listening", flush=True)
    try:
        await asyncio.wait_for(server.report.is_over.wait(), options.seconds)
    except asyncio.TimeoutError:
        pass
    listener.shutdown()
    server.report.print()


async def run(options):
    await (serve(options) if options.role == "serve" else client(options))
    # Does not wait for decoder threads, which do not always end.
    os._exit(0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("role", choices=["play", "send", "serve"])
    parser.add_argument("url")
    parser.add_argument("--token")
    parser.add_argument("--codec", choices=["H264", "VP8"])
    parser.add_argument("--pictures", type=int)
    parser.add_argument("--sound", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=280)
    parser.add_argument("--turn", nargs=3)
    parser.add_argument("--insecure", action="store_true")
    options = parser.parse_args()
    asyncio.run(run(options))


main()
