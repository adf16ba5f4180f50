// The floor that the engine's fan-out is measured against, in C, as short a way as GStreamer has.
//
//   c-fanout latency SINKS FRAMES    pushes 1080p pictures at 30 a second: appsrc ! tee ! SINKS appsinks;
//                                    prints each sink's times from push to callback, in nanoseconds
//   c-fanout fanout SINKS FRAMES     as fast as it goes: tee ! SINKS times (queue ! fakesink)
#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <gst/gst.h>
#include <stdlib.h>
#include <string.h>

#define SIZE (1920 * 1080 * 3 / 2)
#define CAPS "video/x-raw,format=I420,width=1920,height=1080,framerate=30/1"

static GstElement *parse(const char *text) {
    GError *error = NULL;
    GstElement *pipeline = gst_parse_launch_full(text, NULL, GST_PARSE_FLAG_FATAL_ERRORS, &error);
    if (!pipeline) g_error("%s", error ? error->message : "no pipeline");
    return pipeline;
}

static int ends_well(GstElement *pipeline) {
    GstBus *bus = gst_element_get_bus(pipeline);
    GstMessage *message =
        gst_bus_timed_pop_filtered(bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
    int ok = GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS;
    gst_message_unref(message);
    gst_object_unref(bus);
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gst_object_unref(pipeline);
    return ok ? 0 : 1;
}

typedef struct {
    gint64 *times;
    int count;
} Times;

// The picture's moment of push, on the monotonic clock, is its time.
static GstFlowReturn on_sample(GstAppSink *sink, gpointer context) {
    Times *times = context;
    GstSample *sample = gst_app_sink_pull_sample(sink);
    if (!sample) return GST_FLOW_EOS;
    GstClockTime pushed = GST_BUFFER_PTS(gst_sample_get_buffer(sample));
    times->times[times->count++] = (gint64)(gst_util_get_timestamp() - pushed);
    gst_sample_unref(sample);
    return GST_FLOW_OK;
}

static int latency(int sinks, int frames) {
    GString *text = g_string_new(
        "appsrc name=source format=time block=true max-buffers=4 max-bytes=0 caps=\"" CAPS "\" ! tee name=t");
    for (int i = 0; i < sinks; i++)
        g_string_append_printf(
            text, " t. ! appsink name=s%d sync=false async=false enable-last-sample=false max-buffers=4", i);
    GstElement *pipeline = parse(text->str);
    g_string_free(text, TRUE);
    Times *times = calloc(sinks, sizeof(Times));
    for (int i = 0; i < sinks; i++) {
        char name[16];
        g_snprintf(name, sizeof name, "s%d", i);
        GstAppSink *sink = GST_APP_SINK(gst_bin_get_by_name(GST_BIN(pipeline), name));
        times[i].times = calloc(frames, sizeof(gint64));
        GstAppSinkCallbacks callbacks = {.new_sample = on_sample};
        gst_app_sink_set_callbacks(sink, &callbacks, &times[i], NULL);
        gst_object_unref(sink);
    }
    GstAppSrc *source = GST_APP_SRC(gst_bin_get_by_name(GST_BIN(pipeline), "source"));
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    GstBuffer *picture = gst_buffer_new_allocate(NULL, SIZE, NULL);
    gst_buffer_memset(picture, 0, 128, SIZE);
    gint64 next = g_get_monotonic_time();
    for (int i = 0; i < frames; i++) {
        gint64 rest = next - g_get_monotonic_time();
        if (rest > 0) g_usleep(rest);
        next += 33333;
        GstBuffer *buffer = gst_buffer_copy(picture);
        GST_BUFFER_PTS(buffer) = gst_util_get_timestamp();
        gst_app_src_push_buffer(source, buffer);
    }
    gst_app_src_end_of_stream(source);
    int result = ends_well(pipeline);
    for (int i = 0; i < sinks; i++)
        for (int k = 0; k < times[i].count; k++) g_print("%" G_GINT64_FORMAT "\n", times[i].times[k]);
    gst_buffer_unref(picture);
    gst_object_unref(source);
    return result;
}

static int fanout(int sinks, int frames) {
    GString *text = g_string_new(NULL);
    g_string_append_printf(
        text, "videotestsrc num-buffers=1 ! " CAPS " ! imagefreeze num-buffers=%d ! tee name=t", frames);
    for (int i = 0; i < sinks; i++)
        g_string_append(
            text, " t. ! queue max-size-buffers=4 max-size-bytes=0 max-size-time=0 ! fakesink sync=false async=false");
    GstElement *pipeline = parse(text->str);
    g_string_free(text, TRUE);
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    return ends_well(pipeline);
}

int main(int argc, char **argv) {
    gst_init(&argc, &argv);
    if (argc == 4 && !strcmp(argv[1], "latency")) return latency(atoi(argv[2]), atoi(argv[3]));
    if (argc == 4 && !strcmp(argv[1], "fanout")) return fanout(atoi(argv[2]), atoi(argv[3]));
    g_printerr("usage: c-fanout latency|fanout SINKS FRAMES\n");
    return 64;
}
