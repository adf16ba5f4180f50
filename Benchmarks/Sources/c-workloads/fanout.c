// Many sinks of one capture, and many captures in one process.
#include "workloads.h"
#include <gst/app/gstappsink.h>
#include <stdlib.h>

#define CAPTURE "videotestsrc num-buffers=1 ! " PICTURE " ! imagefreeze num-buffers=%d"

int fanout(char **words) {
    int sinks = atoi(words[0]), frames = atoi(words[1]);
    GString *text = g_string_new(NULL);
    g_string_append_printf(text, CAPTURE " ! tee name=t", frames);
    for (int i = 0; i < sinks; i++)
        g_string_append(
            text, " t. ! queue max-size-buffers=4 max-size-bytes=0 max-size-time=0 ! fakesink sync=false async=false");
    GstElement *pipeline = parse("%s", text->str);
    g_string_free(text, TRUE);
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    return finish(pipeline);
}

static GstFlowReturn on_sample(GstAppSink *sink, gpointer context) {
    GstSample *sample = gst_app_sink_pull_sample(sink);
    if (!sample) return GST_FLOW_EOS;
    ++*(guint64 *)context;
    gst_sample_unref(sample);
    return GST_FLOW_OK;
}

int captures(char **words) {
    int count = atoi(words[0]), frames = atoi(words[1]), result = 0;
    GstElement **pipelines = g_new0(GstElement *, count);
    guint64 *seen = g_new0(guint64, count);
    for (int i = 0; i < count; i++) {
        pipelines[i] = parse(
            CAPTURE " ! appsink name=sink max-buffers=4 sync=false async=false enable-last-sample=false", frames);
        GstAppSink *sink = GST_APP_SINK(gst_bin_get_by_name(GST_BIN(pipelines[i]), "sink"));
        GstAppSinkCallbacks callbacks = {.new_sample = on_sample};
        gst_app_sink_set_callbacks(sink, &callbacks, &seen[i], NULL);
        gst_object_unref(sink);
    }
    for (int i = 0; i < count; i++) gst_element_set_state(pipelines[i], GST_STATE_PLAYING);
    for (int i = 0; i < count; i++) {
        result |= finish(pipelines[i]);
        if (seen[i] != (guint64)frames) result = 1;
    }
    g_free(pipelines);
    g_free(seen);
    return result;
}
