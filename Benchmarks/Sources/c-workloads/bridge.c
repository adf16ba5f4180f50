// A bridge, a bridge that reads each frame, and a loop that pulls samples.
#include "workloads.h"
#include <gst/app/gstappsink.h>

int bridge(char **words) { return run_bridge(words[0], words[1], NULL, NULL); }

static guint64 seen;

static GstBuffer *look_at(GstBuffer *buffer, const GstVideoInfo *info, void *context) {
    (void)context;
    GstVideoFrame frame;
    if (!gst_video_frame_map(&frame, info, buffer, GST_MAP_READ | GST_VIDEO_FRAME_MAP_FLAG_NO_REF))
        g_error("the picture cannot be mapped");
    seen += *(guint8 *)GST_VIDEO_FRAME_PLANE_DATA(&frame, 0);
    gst_video_frame_unmap(&frame);
    return buffer;
}

int look(char **words) {
    int result = run_bridge(words[0], words[1], look_at, NULL);
    // Keeps the compiler from removing the read.
    if (seen == G_MAXUINT64) g_print("%" G_GUINT64_FORMAT "\n", seen);
    return result;
}

int pull(char **words) {
    GstElement *capture = parse(
        "%s ! appsink name=sink max-buffers=3 sync=false async=false enable-last-sample=false", words[0]);
    GstAppSink *sink = GST_APP_SINK(gst_bin_get_by_name(GST_BIN(capture), "sink"));
    gst_element_set_state(capture, GST_STATE_PLAYING);
    GstSample *sample;
    guint64 frames = 0;
    while ((sample = gst_app_sink_pull_sample(sink))) {
        frames++;
        gst_sample_unref(sample);
    }
    gst_object_unref(sink);
    return finish(capture) | (frames > 0 ? 0 : 1);
}
