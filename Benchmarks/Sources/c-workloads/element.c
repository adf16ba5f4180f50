// Filters in C as elements, in a pipeline of their own.
#include "workloads.h"
#include <gst/video/gstvideofilter.h>

// Inverts the luma of each picture in place.
typedef struct {
    GstVideoFilter parent;
} CNegative;
typedef struct {
    GstVideoFilterClass parent;
} CNegativeClass;
G_DEFINE_TYPE(CNegative, c_negative, GST_TYPE_VIDEO_FILTER)

static GstFlowReturn invert(GstVideoFilter *filter, GstVideoFrame *frame) {
    (void)filter;
    int width = GST_VIDEO_FRAME_WIDTH(frame), stride = GST_VIDEO_FRAME_PLANE_STRIDE(frame, 0);
    guint8 *luma = GST_VIDEO_FRAME_PLANE_DATA(frame, 0);
    for (int y = 0; y < GST_VIDEO_FRAME_HEIGHT(frame); y++, luma += stride)
        for (int x = 0; x < width; x++) luma[x] = ~luma[x];
    return GST_FLOW_OK;
}

static void c_negative_class_init(CNegativeClass *class) {
    GstElementClass *element = GST_ELEMENT_CLASS(class);
    GstCaps *caps = gst_caps_from_string("video/x-raw, format={ I420, GRAY8 }");
    gst_element_class_add_pad_template(element, gst_pad_template_new("sink", GST_PAD_SINK, GST_PAD_ALWAYS, caps));
    gst_element_class_add_pad_template(element, gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, caps));
    gst_caps_unref(caps);
    gst_element_class_set_static_metadata(element, "Negative", "Filter/Effect/Video", "Inverts the luma", "-");
    GST_VIDEO_FILTER_CLASS(class)->transform_frame_ip = invert;
}

static void c_negative_init(CNegative *filter) { (void)filter; }

int element(char **words) {
    gst_element_register(NULL, "cnegative", GST_RANK_NONE, c_negative_get_type());
    GstElement *pipeline = parse("%s", words[0]);
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    return finish(pipeline);
}
