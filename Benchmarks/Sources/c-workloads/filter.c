// Filters that read one frame and write another from a pool: each byte is read once and written once.
#include "workloads.h"
#include <string.h>

typedef struct {
    void (*apply)(const GstVideoFrame *in, GstVideoFrame *out);
    gboolean turns;
    GstBufferPool *pool;
    GstVideoInfo info;
} Filter;

static void prepare(Filter *filter, const GstVideoInfo *info) {
    GstVideoInfo out = *info;
    if (filter->turns) {
        gst_video_info_set_format(
            &out, GST_VIDEO_INFO_FORMAT(info), GST_VIDEO_INFO_HEIGHT(info), GST_VIDEO_INFO_WIDTH(info));
        out.fps_n = info->fps_n;
        out.fps_d = info->fps_d;
    }
    filter->info = out;
    filter->pool = gst_video_buffer_pool_new();
    GstStructure *config = gst_buffer_pool_get_config(filter->pool);
    GstCaps *caps = gst_video_info_to_caps(&out);
    gst_buffer_pool_config_set_params(config, caps, out.size, 2, 0);
    gst_caps_unref(caps);
    if (!gst_buffer_pool_set_config(filter->pool, config)) g_error("no pool");
    gst_buffer_pool_set_active(filter->pool, TRUE);
}

static GstBuffer *step(GstBuffer *buffer, const GstVideoInfo *info, void *context) {
    Filter *filter = context;
    if (!filter->pool) prepare(filter, info);
    GstBuffer *result = NULL;
    if (gst_buffer_pool_acquire_buffer(filter->pool, &result, NULL) != GST_FLOW_OK) g_error("no buffer");
    GstVideoFrame in, out;
    if (!gst_video_frame_map(&in, info, buffer, GST_MAP_READ)
        || !gst_video_frame_map(&out, &filter->info, result, GST_MAP_WRITE))
        g_error("a picture cannot be mapped");
    filter->apply(&in, &out);
    gst_video_frame_unmap(&out);
    gst_video_frame_unmap(&in);
    gst_buffer_copy_into(result, buffer, GST_BUFFER_COPY_TIMESTAMPS, 0, -1);
    gst_buffer_unref(buffer);
    return result;
}

static guint8 *row(const GstVideoFrame *frame, int plane, int y) {
    return (guint8 *)GST_VIDEO_FRAME_PLANE_DATA(frame, plane)
           + (gsize)y * GST_VIDEO_FRAME_PLANE_STRIDE(frame, plane);
}

// Rows and pixels of a plane, from the first component in it.
static void measure(const GstVideoFrame *frame, int plane, int *width, int *height, int *bytes) {
    int component = plane == 0 ? 0 : GST_VIDEO_INFO_N_PLANES(&frame->info) == 1 ? 0 : plane;
    *width = GST_VIDEO_FRAME_COMP_WIDTH(frame, component);
    *height = GST_VIDEO_FRAME_COMP_HEIGHT(frame, component);
    *bytes = GST_VIDEO_FRAME_COMP_PSTRIDE(frame, component);
}

static void grayscale(const GstVideoFrame *in, GstVideoFrame *out) {
    if (GST_VIDEO_INFO_IS_YUV(&in->info)) {
        for (guint plane = 0; plane < GST_VIDEO_FRAME_N_PLANES(in); plane++) {
            int width, height, bytes;
            measure(in, plane, &width, &height, &bytes);
            for (int y = 0; y < height; y++) {
                if (plane == 0)
                    memcpy(row(out, 0, y), row(in, 0, y), width * bytes);
                else
                    memset(row(out, plane, y), 128, width * bytes);
            }
        }
        return;
    }
    int red = GST_VIDEO_FRAME_COMP_POFFSET(in, 0), blue = GST_VIDEO_FRAME_COMP_POFFSET(in, 2);
    int green = GST_VIDEO_FRAME_COMP_POFFSET(in, 1);
    if (red != 2 || green != 1 || blue != 0) g_error("not BGRA");
    int width = GST_VIDEO_FRAME_WIDTH(in);
    for (int y = 0; y < GST_VIDEO_FRAME_HEIGHT(in); y++) {
        const guint8 *restrict from = row(in, 0, y);
        guint8 *restrict to = row(out, 0, y);
        for (int x = 0; x < width; x++) {
            guint8 level = (from[4 * x] * 29 + from[4 * x + 1] * 150 + from[4 * x + 2] * 77) >> 8;
            to[4 * x] = to[4 * x + 1] = to[4 * x + 2] = level;
            to[4 * x + 3] = from[4 * x + 3];
        }
    }
}

#define MIRROR(TYPE)                                                                          \
    for (int y = 0; y < height; y++) {                                                        \
        const TYPE *restrict from = (const TYPE *)row(in, plane, y);                          \
        TYPE *restrict to = (TYPE *)row(out, plane, y);                                       \
        for (int x = 0; x < width; x++) to[x] = from[width - 1 - x];                          \
    }

static void mirror(const GstVideoFrame *in, GstVideoFrame *out) {
    for (guint plane = 0; plane < GST_VIDEO_FRAME_N_PLANES(in); plane++) {
        int width, height, bytes;
        measure(in, plane, &width, &height, &bytes);
        if (bytes == 1) {
            MIRROR(guint8)
        } else if (bytes == 2) {
            MIRROR(guint16)
        } else {
            MIRROR(guint32)
        }
    }
}

// The result row by row. Square tiles, which keep the input in the cache, take longer here.
#define ROTATE(TYPE)                                                                          \
    for (int x = 0; x < width; x++) {                                                         \
        const guint8 *restrict from = row(in, plane, height - 1) + x * sizeof(TYPE);          \
        TYPE *restrict to = (TYPE *)row(out, plane, x);                                       \
        for (int y = 0; y < height; y++, from -= stride) to[y] = *(const TYPE *)from;         \
    }

static void rotate(const GstVideoFrame *in, GstVideoFrame *out) {
    for (guint plane = 0; plane < GST_VIDEO_FRAME_N_PLANES(in); plane++) {
        const gsize stride = GST_VIDEO_FRAME_PLANE_STRIDE(in, plane);
        int width, height, bytes;
        measure(in, plane, &width, &height, &bytes);
        if (bytes == 1) {
            ROTATE(guint8)
        } else if (bytes == 2) {
            ROTATE(guint16)
        } else {
            ROTATE(guint32)
        }
    }
}

int filter(char **words) {
    Filter filter = {0};
    if (!strcmp(words[0], "grayscale"))
        filter.apply = grayscale;
    else if (!strcmp(words[0], "mirror"))
        filter.apply = mirror;
    else
        filter.apply = rotate;
    filter.turns = filter.apply == rotate;
    int result = run_bridge(words[1], words[2], step, &filter);
    if (filter.pool) {
        gst_buffer_pool_set_active(filter.pool, FALSE);
        gst_object_unref(filter.pool);
    }
    return result;
}
