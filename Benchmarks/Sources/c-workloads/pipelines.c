#include "workloads.h"
#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>

GstElement *parse(const char *format, ...) {
    va_list words;
    va_start(words, format);
    char *text = g_strdup_vprintf(format, words);
    va_end(words);
    GError *error = NULL;
    GstElement *pipeline = gst_parse_launch_full(text, NULL, GST_PARSE_FLAG_FATAL_ERRORS, &error);
    g_free(text);
    if (!pipeline) g_error("%s", error ? error->message : "no pipeline");
    return pipeline;
}

gboolean ends_well(GstElement *pipeline) {
    GstBus *bus = gst_element_get_bus(pipeline);
    GstMessage *message =
        gst_bus_timed_pop_filtered(bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
    gboolean is_eos = GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS;
    gst_message_unref(message);
    gst_object_unref(bus);
    return is_eos;
}

int finish(GstElement *pipeline) {
    gboolean ok = ends_well(pipeline);
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gst_object_unref(pipeline);
    return ok ? 0 : 1;
}

typedef struct {
    GstAppSrc *source;
    GstCaps *caps;
    GstVideoInfo info;
    Step step;
    void *context;
    guint64 frames;
} Bridge;

static GstFlowReturn on_sample(GstAppSink *sink, gpointer context) {
    Bridge *bridge = context;
    GstSample *sample = gst_app_sink_pull_sample(sink);
    if (!sample) return GST_FLOW_EOS;
    GstCaps *caps = gst_sample_get_caps(sample);
    if (caps != bridge->caps) {
        gst_caps_replace(&bridge->caps, caps);
        if (bridge->step && !gst_video_info_from_caps(&bridge->info, caps)) g_error("no video caps");
        if (bridge->source) gst_app_src_set_caps(bridge->source, caps);
    }
    GstBuffer *buffer = gst_buffer_ref(gst_sample_get_buffer(sample));
    gst_sample_unref(sample);
    bridge->frames++;
    if (bridge->step) buffer = bridge->step(buffer, &bridge->info, bridge->context);
    if (bridge->source) return gst_app_src_push_buffer(bridge->source, buffer);
    gst_buffer_unref(buffer);
    return GST_FLOW_OK;
}

static void on_end(GstAppSink *sink, gpointer context) {
    (void)sink;
    Bridge *bridge = context;
    if (bridge->source) gst_app_src_end_of_stream(bridge->source);
}

// The same queue depths as MediaBridge's defaults: four buffers in a capture, sixteen before an output.
// Nothing is dropped. No thread polls: the main thread sleeps on the bus.
int run_bridge(const char *from, const char *to, Step step, void *context) {
    GstElement *capture = parse(
        "%s ! appsink name=sink max-buffers=4 sync=false async=false enable-last-sample=false", from);
    GstElement *output =
        to ? parse("appsrc name=source format=time block=true max-buffers=16 max-bytes=0 max-time=0 ! %s", to)
           : NULL;
    Bridge bridge = {.step = step, .context = context};
    if (output) bridge.source = GST_APP_SRC(gst_bin_get_by_name(GST_BIN(output), "source"));
    GstAppSink *sink = GST_APP_SINK(gst_bin_get_by_name(GST_BIN(capture), "sink"));
    GstAppSinkCallbacks callbacks = {.eos = on_end, .new_sample = on_sample};
    gst_app_sink_set_callbacks(sink, &callbacks, &bridge, NULL);
    gst_object_unref(sink);
    if (output) gst_element_set_state(output, GST_STATE_PLAYING);
    gst_element_set_state(capture, GST_STATE_PLAYING);
    int result = output ? finish(output) : 0;
    result |= finish(capture);
    if (bridge.source) gst_object_unref(bridge.source);
    gst_caps_replace(&bridge.caps, NULL);
    return bridge.frames > 0 ? result : 1;
}
