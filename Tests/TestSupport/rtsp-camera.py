#!/usr/bin/python3
"""A camera on the network: rtsp-camera.py PORT STRING

Serves a gst-launch string, whose payloader has the name pay0, to any number of clients at
rtsp://127.0.0.1:PORT/camera, from one encoding. Prints each GET_PARAMETER request that it gets.
"""
import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtspServer

_, port, string = sys.argv
Gst.init(None)
factory = GstRtspServer.RTSPMediaFactory()
factory.set_launch(f"( {string} )")
factory.set_shared(True)
server = GstRtspServer.RTSPServer(address="127.0.0.1", service=port)
server.connect(
    "client-connected",
    lambda _, client: client.connect(
        "get-parameter-request", lambda *_: print("GET_PARAMETER", flush=True)))
server.get_mount_points().add_factory("/camera", factory)
if not server.attach(None):
    sys.exit(f"port {port} is taken")
print("listening", flush=True)
GLib.MainLoop().run()
