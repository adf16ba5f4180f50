// The cost of a renderer that requests a format: GStreamer's converter on one thread, into a pool.
#include "workloads.h"

typedef struct {
    GstVideoFormat format;
    GstVideoInfo info;
    GstVideoConverter *converter;
    GstBufferPool *pool;
} Conversion;

static GstBuffer *step(GstBuffer *buffer, const GstVideoInfo *info, void *context) {
    Conversion *conversion = context;
    if (!conversion->converter) {
        gst_video_info_set_format(
            &conversion->info, conversion->format, GST_VIDEO_INFO_WIDTH(info), GST_VIDEO_INFO_HEIGHT(info));
        conversion->info.fps_n = info->fps_n;
        conversion->info.fps_d = info->fps_d;
        conversion->converter = gst_video_converter_new(info, &conversion->info, NULL);
        if (!conversion->converter) g_error("no converter");
        conversion->pool = gst_video_buffer_pool_new();
        GstStructure *config = gst_buffer_pool_get_config(conversion->pool);
        GstCaps *caps = gst_video_info_to_caps(&conversion->info);
        gst_buffer_pool_config_set_params(config, caps, conversion->info.size, 2, 0);
        gst_caps_unref(caps);
        if (!gst_buffer_pool_set_config(conversion->pool, config)) g_error("no pool");
        gst_buffer_pool_set_active(conversion->pool, TRUE);
    }
    GstBuffer *result = NULL;
    if (gst_buffer_pool_acquire_buffer(conversion->pool, &result, NULL) != GST_FLOW_OK) g_error("no buffer");
    GstVideoFrame in, out;
    if (!gst_video_frame_map(&in, info, buffer, GST_MAP_READ)
        || !gst_video_frame_map(&out, &conversion->info, result, GST_MAP_WRITE))
        g_error("a picture cannot be mapped");
    gst_video_converter_frame(conversion->converter, &in, &out);
    gst_video_frame_unmap(&out);
    gst_video_frame_unmap(&in);
    gst_buffer_unref(buffer);
    return result;
}

int convert(char **words) {
    Conversion conversion = {.format = gst_video_format_from_string(words[0])};
    int result = run_bridge(words[1], NULL, step, &conversion);
    if (conversion.converter) gst_video_converter_free(conversion.converter);
    if (conversion.pool) {
        gst_buffer_pool_set_active(conversion.pool, FALSE);
        gst_object_unref(conversion.pool);
    }
    return result;
}
