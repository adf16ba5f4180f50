"""The bridge with GStreamer's Python bindings: bridge.py CAPTURE OUTPUT"""
import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstApp", "1.0")
from gi.repository import Gst, GstApp  # noqa: E402,F401

Gst.init(None)
capture = Gst.parse_launch(
    sys.argv[1] + " ! appsink name=sink max-buffers=4 sync=false async=false enable-last-sample=false")
output = Gst.parse_launch(
    "appsrc name=source format=time block=true max-buffers=16 max-bytes=0 max-time=0 ! " + sys.argv[2])
sink, source = capture.get_by_name("sink"), output.get_by_name("source")
output.set_state(Gst.State.PLAYING)
capture.set_state(Gst.State.PLAYING)
frames, caps = 0, None
while True:
    sample = sink.pull_sample()
    if sample is None:
        break
    if sample.get_caps() is not caps:
        caps = sample.get_caps()
        source.set_caps(caps)
    source.push_buffer(sample.get_buffer())
    frames += 1
source.end_of_stream()
message = output.get_bus().timed_pop_filtered(
    Gst.CLOCK_TIME_NONE, Gst.MessageType.EOS | Gst.MessageType.ERROR)
for pipeline in (output, capture):
    pipeline.set_state(Gst.State.NULL)
sys.exit(0 if frames and message.type == Gst.MessageType.EOS else 1)
