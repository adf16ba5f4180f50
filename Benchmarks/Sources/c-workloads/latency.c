// The latency of a frame from the push to each sink's callback.
#include "workloads.h"
#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <stdlib.h>

typedef struct {
    gint64 *times;
    int count;
} Times;

// The frame's timestamp is the time of its push, on the monotonic clock.
static GstFlowReturn on_sample(GstAppSink *sink, gpointer context) {
    Times *times = context;
    GstSample *sample = gst_app_sink_pull_sample(sink);
    if (!sample) return GST_FLOW_EOS;
    GstClockTime pushed = GST_BUFFER_PTS(gst_sample_get_buffer(sample));
    times->times[times->count++] = (gint64)(gst_util_get_timestamp() - pushed);
    gst_sample_unref(sample);
    return GST_FLOW_OK;
}

int latency(char **words) {
    int sinks = atoi(words[0]), frames = atoi(words[1]), rate = atoi(words[2]);
    GString *text = g_string_new(
        "appsrc name=source format=time block=true max-buffers=4 max-bytes=0 caps=\"" PICTURE "\" ! tee name=t");
    for (int i = 0; i < sinks; i++)
        g_string_append_printf(
            text, " t. ! appsink name=s%d sync=false async=false enable-last-sample=false max-buffers=4", i);
    GstElement *pipeline = parse("%s", text->str);
    g_string_free(text, TRUE);
    Times *times = g_new0(Times, sinks);
    for (int i = 0; i < sinks; i++) {
        char *name = g_strdup_printf("s%d", i);
        GstAppSink *sink = GST_APP_SINK(gst_bin_get_by_name(GST_BIN(pipeline), name));
        g_free(name);
        times[i].times = g_new0(gint64, frames);
        GstAppSinkCallbacks callbacks = {.new_sample = on_sample};
        gst_app_sink_set_callbacks(sink, &callbacks, &times[i], NULL);
        gst_object_unref(sink);
    }
    GstAppSrc *source = GST_APP_SRC(gst_bin_get_by_name(GST_BIN(pipeline), "source"));
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    GstBuffer *picture = gst_buffer_new_allocate(NULL, PICTURE_SIZE, NULL);
    gst_buffer_memset(picture, 0, 128, PICTURE_SIZE);
    gint64 next = g_get_monotonic_time();
    for (int i = 0; i < frames; i++) {
        gint64 rest = next - g_get_monotonic_time();
        if (rest > 0) g_usleep(rest);
        next += G_USEC_PER_SEC / rate;
        GstBuffer *buffer = gst_buffer_copy(picture);
        GST_BUFFER_PTS(buffer) = gst_util_get_timestamp();
        gst_app_src_push_buffer(source, buffer);
    }
    gst_app_src_end_of_stream(source);
    int result = finish(pipeline);
    for (int i = 0; i < sinks; i++) {
        if (times[i].count != frames) result = 1;
        for (int k = 0; k < times[i].count; k++) g_print("%" G_GINT64_FORMAT "\n", times[i].times[k]);
        g_free(times[i].times);
    }
    g_free(times);
    gst_buffer_unref(picture);
    gst_object_unref(source);
    return result;
}
