// Frames that the program creates, pushed as fast as possible.
#include "workloads.h"
#include <gst/app/gstappsrc.h>
#include <string.h>

int push(char **words) {
    gboolean copies = !strcmp(words[0], "copied");
    guint64 frames = g_ascii_strtoull(words[1], NULL, 10);
    GstElement *pipeline = parse(
        "appsrc name=source format=time block=true max-buffers=16 max-bytes=0 max-time=0 caps=\"%s\" ! "
        "fakesink sync=false async=false",
        PICTURE);
    GstAppSrc *source = GST_APP_SRC(gst_bin_get_by_name(GST_BIN(pipeline), "source"));
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    guint8 *picture = g_malloc(PICTURE_SIZE);
    memset(picture, 128, PICTURE_SIZE);
    gsize offsets[GST_VIDEO_MAX_PLANES] = {0, 1920 * 1080, 1920 * 1080 * 5 / 4};
    gint strides[GST_VIDEO_MAX_PLANES] = {1920, 960, 960};
    for (guint64 i = 0; i < frames; i++) {
        GstBuffer *buffer;
        if (copies) {
            buffer = gst_buffer_new_allocate(NULL, PICTURE_SIZE, NULL);
            gst_buffer_fill(buffer, 0, picture, PICTURE_SIZE);
        } else {
            buffer = gst_buffer_new_wrapped_full(
                GST_MEMORY_FLAG_READONLY, picture, PICTURE_SIZE, 0, PICTURE_SIZE, NULL, NULL);
            gst_buffer_add_video_meta_full(
                buffer, 0, GST_VIDEO_FORMAT_I420, 1920, 1080, 3, offsets, strides);
        }
        GST_BUFFER_PTS(buffer) = i * GST_SECOND / 30;
        if (gst_app_src_push_buffer(source, buffer) != GST_FLOW_OK) return 1;
    }
    gst_app_src_end_of_stream(source);
    int result = finish(pipeline);
    gst_object_unref(source);
    g_free(picture);
    return result;
}
