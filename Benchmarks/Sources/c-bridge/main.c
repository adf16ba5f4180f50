// The floor that the Swift bridge is measured against: the same bridge, in C, as short a way as
// GStreamer has.
//
//   c-bridge CAPTURE OUTPUT   appsink's callback pushes each buffer into the appsrc of a second pipeline
//   c-bridge CAPTURE          a loop pulls each sample, and lets it go
//
// Same depths as the Swift side has by default (four buffers in front of an output, three in a capture
// that is pulled), nothing lost, the output's caps set only when the capture's change, buffers passed
// by reference. No thread polls: the main thread sleeps on the bus.
#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <gst/gst.h>

typedef struct {
    GstAppSrc *source;
    GstCaps *caps;
    guint64 frames;
} Bridge;

static GstFlowReturn on_sample(GstAppSink *sink, gpointer context) {
    Bridge *bridge = context;
    GstSample *sample = gst_app_sink_pull_sample(sink);
    if (!sample) return GST_FLOW_EOS;
    GstCaps *caps = gst_sample_get_caps(sample);
    if (caps != bridge->caps) {
        gst_caps_replace(&bridge->caps, caps);
        gst_app_src_set_caps(bridge->source, caps);
    }
    GstBuffer *buffer = gst_buffer_ref(gst_sample_get_buffer(sample));
    gst_sample_unref(sample);
    bridge->frames++;
    return gst_app_src_push_buffer(bridge->source, buffer);
}

static void on_end(GstAppSink *sink, gpointer context) {
    (void)sink;
    gst_app_src_end_of_stream(((Bridge *)context)->source);
}

static GstElement *parse(const char *text, const char *format) {
    GError *error = NULL;
    char *full = g_strdup_printf(format, text);
    GstElement *pipeline = gst_parse_launch_full(full, NULL, GST_PARSE_FLAG_FATAL_ERRORS, &error);
    g_free(full);
    if (!pipeline) g_error("%s", error ? error->message : "no pipeline");
    return pipeline;
}

// Sleeps until the pipeline ends.
static gboolean ends_well(GstElement *pipeline) {
    GstBus *bus = gst_element_get_bus(pipeline);
    GstMessage *message = gst_bus_timed_pop_filtered(bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
    gboolean is_eos = GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS;
    gst_message_unref(message);
    gst_object_unref(bus);
    return is_eos;
}

static int end(GstElement *pipeline) {
    gboolean ok = ends_well(pipeline);
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gst_object_unref(pipeline);
    return ok ? 0 : 1;
}

static int pull(const char *text) {
    GstElement *capture = parse(
        text, "%s ! appsink name=sink max-buffers=3 sync=false async=false enable-last-sample=false");
    GstAppSink *sink = GST_APP_SINK(gst_bin_get_by_name(GST_BIN(capture), "sink"));
    gst_element_set_state(capture, GST_STATE_PLAYING);
    GstSample *sample;
    guint64 frames = 0;
    while ((sample = gst_app_sink_pull_sample(sink))) {
        frames++;
        gst_sample_unref(sample);
    }
    gst_object_unref(sink);
    return frames > 0 ? end(capture) : 1;
}

static int bridge(const char *from, const char *to) {
    GstElement *capture =
        parse(from, "%s ! appsink name=sink max-buffers=4 sync=false async=false enable-last-sample=false");
    GstElement *output =
        parse(to, "appsrc name=source format=time block=true max-buffers=16 max-bytes=0 max-time=0 ! %s");
    Bridge bridge = {.source = GST_APP_SRC(gst_bin_get_by_name(GST_BIN(output), "source"))};
    GstAppSink *sink = GST_APP_SINK(gst_bin_get_by_name(GST_BIN(capture), "sink"));
    GstAppSinkCallbacks callbacks = {.eos = on_end, .new_sample = on_sample};
    gst_app_sink_set_callbacks(sink, &callbacks, &bridge, NULL);
    gst_element_set_state(output, GST_STATE_PLAYING);
    gst_element_set_state(capture, GST_STATE_PLAYING);
    int result = end(output);
    result |= end(capture);
    gst_object_unref(sink);
    gst_object_unref(bridge.source);
    gst_caps_replace(&bridge.caps, NULL);
    return bridge.frames > 0 ? result : 1;
}

int main(int argc, char **argv) {
    gst_init(&argc, &argv);
    if (argc == 2) return pull(argv[1]);
    if (argc == 3) return bridge(argv[1], argv[2]);
    g_printerr("usage: c-bridge CAPTURE [OUTPUT]\n");
    return 64;
}
