// Wrappers for the parts of GStreamer's headers that Swift's importer cannot import, each with its reason.
// Everything else is called directly from Swift.
//
// Two reasons recur:
//   macro     the importer sees functions and simple constants, not function-like macros;
//   @Sendable a Swift closure passed as a plain C function pointer inherits the isolation of the code
//             that forms it. Formed in a `@MainActor` context (a `main` too), it traps on its first call
//             from a streaming thread, and nothing warns at compile time. The attribute on the
//             parameter makes the compiler refuse isolated closures.
#ifndef CMEDIABRIDGE_H
#define CMEDIABRIDGE_H

#include <gst/gst.h>
#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <gst/audio/audio.h>
#include <gst/audio/gstaudiofilter.h>
#include <gst/base/gstbasesink.h>
#include <gst/base/gstbasetransform.h>
#include <gst/base/gstpushsrc.h>
#include <gst/video/gstvideofilter.h>
#include <gst/video/gstvideosink.h>
#include <gst/video/video.h>
#include <string.h>

// The system's headers declare these only for GNU programs. Compares names: numbers in them count as numbers.
int strverscmp(const char *one, const char *other);
// Flags 7 write a part of a file, and wait for it.
int sync_file_range(int descriptor, __off64_t offset, __off64_t count, unsigned int flags);

#define MB_SENDABLE __attribute__((swift_attr("@Sendable")))

// MARK: Callbacks

typedef GstBusSyncReply (*MBBusHandler)(GstBus *bus, GstMessage *message, gpointer context);
typedef GstFlowReturn (*MBSampleHandler)(GstAppSink *sink, gpointer context);
typedef void (*MBEndHandler)(GstAppSink *sink, gpointer context);
typedef GstPadProbeReturn (*MBProbeHandler)(GstPad *pad, GstPadProbeInfo *info, gpointer context);
typedef GstFlowReturn (*MBChainHandler)(GstPad *pad, GstObject *parent, GstBuffer *buffer);
typedef gboolean (*MBEventHandler)(GstPad *pad, GstObject *parent, GstEvent *event);
typedef GstPadLinkReturn (*MBLinkHandler)(GstPad *pad, GstObject *parent, GstPad *peer);
typedef gboolean (*MBQueryHandler)(GstPad *pad, GstObject *parent, GstQuery *query);
typedef void (*MBLogHandler)(const gchar *domain, GLogLevelFlags level, const gchar *message, gpointer context);
typedef void (*MBDestroy)(gpointer context);
typedef void (*MBPadHandler)(GstElement *element, GstPad *pad, gpointer context);
typedef void (*MBNoMorePadsHandler)(GstElement *element, gpointer context);
typedef void (*MBElementHandler)(GstBin *bin, GstBin *parent, GstElement *element, gpointer context);
typedef gint (*MBAutoplugHandler)(GstElement *bin, GstPad *pad, GstCaps *caps, GstElementFactory *factory, gpointer context);
typedef void (*MBClosureDestroy)(gpointer context, GClosure *closure);
typedef void (*MBNotifyHandler)(GObject *object, GParamSpec *spec, gpointer context);

// Reason: @Sendable.
static inline void mb_bus_set_sync_handler(GstBus *bus, MBBusHandler handler MB_SENDABLE, gpointer context,
                                           MBDestroy destroy MB_SENDABLE) {
    gst_bus_set_sync_handler(bus, handler, context, destroy);
}

// Reason: @Sendable; and GstAppSinkCallbacks ends in a reserved array that Swift would have to spell out.
static inline void mb_app_sink_set_callbacks(GstAppSink *sink, MBSampleHandler sample MB_SENDABLE,
                                             MBEndHandler end MB_SENDABLE, gpointer context,
                                             MBDestroy destroy MB_SENDABLE) {
    GstAppSinkCallbacks callbacks = {0};
    callbacks.new_sample = sample;
    callbacks.eos = end;
    gst_app_sink_set_callbacks(sink, &callbacks, context, destroy);
}

// Reason: @Sendable.
static inline gulong mb_pad_add_probe(GstPad *pad, GstPadProbeType mask, MBProbeHandler handler MB_SENDABLE,
                                      gpointer context, MBDestroy destroy MB_SENDABLE) {
    return gst_pad_add_probe(pad, mask, handler, context, destroy);
}

// Reason: macro (GST_PAD_PROBE_INFO_DATA), and one step. Makes the probe's buffer writable, stores it in the
// probe info and returns it.
static inline GstBuffer *mb_pad_probe_own_buffer(GstPadProbeInfo *info) {
    info->data = gst_buffer_make_writable(GST_PAD_PROBE_INFO_BUFFER(info));
    return GST_PAD_PROBE_INFO_BUFFER(info);
}

// Reason: macro (GST_PAD_PROBE_INFO_DATA), and one step. Replaces the probe's buffer by a copy with bytes of its own.
static inline void mb_pad_probe_copy_buffer(GstPadProbeInfo *info) {
    GstBuffer *copy = gst_buffer_copy_deep(GST_PAD_PROBE_INFO_BUFFER(info));
    if (!copy) return;
    gst_buffer_unref(GST_PAD_PROBE_INFO_BUFFER(info));
    info->data = copy;
}

// Whether a thread is inside of the pad: it delivers a buffer or an event to the pad's element. Reason: macros
// (GST_PAD_STREAM_TRYLOCK, GST_PAD_STREAM_UNLOCK).
static inline gboolean mb_pad_is_streaming(GstPad *pad) {
    if (!GST_PAD_STREAM_TRYLOCK(pad)) return TRUE;
    GST_PAD_STREAM_UNLOCK(pad);
    return FALSE;
}

// Reason: macro (gst_pad_set_chain_function and gst_pad_set_event_function), and @Sendable.
static inline void mb_pad_set_functions(GstPad *pad, MBChainHandler chain MB_SENDABLE,
                                        MBEventHandler event MB_SENDABLE, gpointer context,
                                        MBDestroy destroy MB_SENDABLE) {
    gst_pad_set_chain_function_full(pad, chain, context, destroy);
    gst_pad_set_event_function_full(pad, event, context, NULL);
}

// Reason: macro (gst_pad_set_event_function and gst_pad_set_query_function), and @Sendable.
static inline void mb_pad_set_event_and_query_functions(GstPad *pad, MBEventHandler event MB_SENDABLE,
                                                        MBQueryHandler query MB_SENDABLE) {
    gst_pad_set_event_function_full(pad, event, NULL, NULL);
    gst_pad_set_query_function_full(pad, query, NULL, NULL);
}

// Reason: macro (gst_pad_set_link_function), and @Sendable.
static inline void mb_pad_set_link_function(GstPad *pad, MBLinkHandler link MB_SENDABLE, gpointer context,
                                            MBDestroy destroy MB_SENDABLE) {
    gst_pad_set_link_function_full(pad, link, context, destroy);
}

// Reason: @Sendable, and macro (G_OBJECT). The context lives as long as the object does.
static inline void mb_object_attach(gpointer object, const gchar *name, gpointer context,
                                    MBDestroy destroy MB_SENDABLE) {
    g_object_set_data_full(G_OBJECT(object), name, context, destroy);
}

// Reason: macro (G_OBJECT).
static inline gpointer mb_object_attached(gpointer object, const gchar *name) {
    return g_object_get_data(G_OBJECT(object), name);
}

// Reason: the context of a chain function is a field behind a macro-only name (pad->chaindata).
static inline gpointer mb_pad_chain_context(GstPad *pad) { return pad->chaindata; }

// Reason: @Sendable.
static inline GstBuffer *mb_buffer_new_wrapped(GstMemoryFlags flags, gpointer bytes, gsize size,
                                               gpointer context, MBDestroy destroy MB_SENDABLE) {
    return gst_buffer_new_wrapped_full(flags, bytes, size, 0, size, context, destroy);
}

// Reason: @Sendable. The context lives as long as the buffer does.
static inline void mb_buffer_attach(GstBuffer *buffer, GQuark name, gpointer context, MBDestroy destroy MB_SENDABLE) {
    gst_mini_object_set_qdata(GST_MINI_OBJECT_CAST(buffer), name, context, destroy);
}

// Reason: @Sendable, and a callback whose real type g_signal_connect_data does not declare.
static inline void mb_on_pad_added(GstElement *element, MBPadHandler handler MB_SENDABLE, gpointer context,
                                   MBClosureDestroy destroy MB_SENDABLE) {
    g_signal_connect_data(element, "pad-added", G_CALLBACK(handler), context, destroy, (GConnectFlags)0);
}

// Reason: as above.
static inline void mb_on_no_more_pads(GstElement *element, MBNoMorePadsHandler handler MB_SENDABLE, gpointer context,
                                      MBClosureDestroy destroy MB_SENDABLE) {
    g_signal_connect_data(element, "no-more-pads", G_CALLBACK(handler), context, destroy, (GConnectFlags)0);
}

// Reason: as above. The handler is called for every element that is added to `bin` or to a bin inside it.
static inline void mb_on_deep_element_added(GstBin *bin, MBElementHandler handler MB_SENDABLE, gpointer context,
                                            MBClosureDestroy destroy MB_SENDABLE) {
    g_signal_connect_data(bin, "deep-element-added", G_CALLBACK(handler), context, destroy, (GConnectFlags)0);
}

// Reason: as above, and macro (G_OBJECT_TYPE). Returns FALSE, and connects nothing, if the element chooses no
// other elements.
static inline gboolean mb_on_autoplug_select(GstElement *element, MBAutoplugHandler handler MB_SENDABLE,
                                             gpointer context, MBClosureDestroy destroy MB_SENDABLE) {
    if (!g_signal_lookup("autoplug-select", G_OBJECT_TYPE(element))) return FALSE;
    g_signal_connect_data(element, "autoplug-select", G_CALLBACK(handler), context, destroy, (GConnectFlags)0);
    return TRUE;
}

// Reason: @Sendable.
static inline GLogFunc mb_log_set_default_handler(MBLogHandler handler MB_SENDABLE) {
    return g_log_set_default_handler(handler, NULL);
}

// MARK: Mini objects

// Reason: macros (gst_buffer_is_writable, GST_MEMORY_IS_READONLY). GStreamer considers memory with one owner
// writable, even if it is read-only.
static inline gboolean mb_buffer_is_writable(GstBuffer *buffer) {
    if (!gst_buffer_is_writable(buffer) || !gst_buffer_is_all_memory_writable(buffer)) return FALSE;
    for (guint i = 0; i < gst_buffer_n_memory(buffer); i++) {
        if (GST_MEMORY_IS_READONLY(gst_buffer_peek_memory(buffer, i))) return FALSE;
    }
    return TRUE;
}

// Whether only the caller and the appsink that returned the sample can reach the buffer. The appsink keeps its
// last sample, so GStreamer considers the buffer shared; but the appsink only releases the sample and never
// reads it. Reason: macros (the reference counts).
static inline gboolean mb_buffer_is_sole(GstBuffer *buffer, GstSample *sample) {
    return GST_MINI_OBJECT_REFCOUNT_VALUE(buffer) == 1 && GST_MINI_OBJECT_REFCOUNT_VALUE(sample) <= 2 &&
           gst_buffer_n_memory(buffer) == 1 &&
           GST_MINI_OBJECT_REFCOUNT_VALUE(gst_buffer_peek_memory(buffer, 0)) == 1 &&
           !GST_MEMORY_IS_READONLY(gst_buffer_peek_memory(buffer, 0));
}

// Reason: macro (gst_buffer_make_writable). Consumes the caller's reference.
static inline GstBuffer *mb_buffer_make_writable(GstBuffer *buffer) { return gst_buffer_make_writable(buffer); }

// Reason: macro (gst_buffer_copy is an inline over one, gst_buffer_ref a cast over another).
static inline GstBuffer *mb_buffer_ref(GstBuffer *buffer) { return gst_buffer_ref(buffer); }
static inline void mb_buffer_unref(GstBuffer *buffer) { gst_buffer_unref(buffer); }
static inline GstCaps *mb_caps_ref(GstCaps *caps) { return gst_caps_ref(caps); }
static inline GstCaps *mb_caps_any(void) { return gst_caps_ref(GST_CAPS_ANY); }
static inline void mb_caps_unref(GstCaps *caps) { gst_caps_unref(caps); }
static inline void mb_sample_unref(GstSample *sample) { gst_sample_unref(sample); }
static inline GstTagList *mb_tag_list_copy(const GstTagList *list) { return gst_tag_list_copy(list); }
static inline void mb_tag_list_unref(GstTagList *list) { gst_tag_list_unref(list); }

// MARK: Objects

// Reason: macro (GST_OBJECT_NAME), and a name that may change under the object's lock. The caller frees the
// copy.
static inline gchar *mb_object_path(gpointer object) { return gst_object_get_path_string(GST_OBJECT(object)); }

// The flags of an element's property that changes at any time. Reason: macros.
static inline GParamFlags mb_property_flags(void) {
    return (GParamFlags)(G_PARAM_READWRITE | GST_PARAM_CONTROLLABLE | GST_PARAM_MUTABLE_PLAYING);
}

// Reason: macro (GST_IS_BIN and its kin).
static inline gboolean mb_is_a(gconstpointer instance, GType type) {
    return instance && g_type_check_instance_is_a((GTypeInstance *)instance, type);
}

// Reason: macro (G_PARAM_SPEC_VALUE_TYPE and the class casts behind g_object_class_find_property).
static inline GParamSpec *mb_property(gpointer object, const gchar *name) {
    return g_object_class_find_property(G_OBJECT_GET_CLASS(object), name);
}

// Reason: macros (G_OBJECT_GET_CLASS, G_TYPE_STRING). The caller frees the list but not its elements.
static inline GParamSpec **mb_properties(gpointer object, guint *count) {
    return g_object_class_list_properties(G_OBJECT_GET_CLASS(object), count);
}
static inline gboolean mb_spec_is_writable(GParamSpec *spec) { return (spec->flags & G_PARAM_WRITABLE) != 0; }
static inline gboolean mb_spec_is_readable(GParamSpec *spec) { return (spec->flags & G_PARAM_READABLE) != 0; }
static inline gboolean mb_spec_is_construct_only(GParamSpec *spec) { return (spec->flags & G_PARAM_CONSTRUCT_ONLY) != 0; }
// The highest state in which the property may change; VOID_PENDING if the element does not declare one.
static inline GstState mb_spec_mutability(GParamSpec *spec) {
    if (spec->flags & GST_PARAM_MUTABLE_PLAYING) return GST_STATE_PLAYING;
    if (spec->flags & GST_PARAM_MUTABLE_PAUSED) return GST_STATE_PAUSED;
    return spec->flags & GST_PARAM_MUTABLE_READY ? GST_STATE_READY : GST_STATE_VOID_PENDING;
}
static inline gboolean mb_spec_is_string(GParamSpec *spec) { return spec->value_type == G_TYPE_STRING; }
static inline gboolean mb_spec_is_element(GParamSpec *spec) { return g_type_is_a(spec->value_type, GST_TYPE_ELEMENT); }

// Reason: macros (G_IS_PARAM_SPEC_…, G_PARAM_SPEC_…). Returns the nicks of the values, to be freed with
// g_strfreev; NULL if the property is not an enumeration or flags.
static inline gchar **mb_spec_nicks(GParamSpec *spec) {
    GStrvBuilder *nicks;
    gchar **list;
    guint index;
    if (!G_IS_PARAM_SPEC_ENUM(spec) && !G_IS_PARAM_SPEC_FLAGS(spec)) return NULL;
    nicks = g_strv_builder_new();
    if (G_IS_PARAM_SPEC_ENUM(spec)) {
        GEnumClass *values = G_PARAM_SPEC_ENUM(spec)->enum_class;
        for (index = 0; index < values->n_values; index++) g_strv_builder_add(nicks, values->values[index].value_nick);
    } else {
        GFlagsClass *values = G_PARAM_SPEC_FLAGS(spec)->flags_class;
        for (index = 0; index < values->n_values; index++) g_strv_builder_add(nicks, values->values[index].value_nick);
    }
    list = g_strv_builder_end(nicks);
    g_strv_builder_unref(nicks);
    return list;
}

// Reason: as above. Returns the valid range of a number or boolean, to be freed; NULL for any other type.
static inline gchar *mb_spec_range(GParamSpec *spec) {
    if (G_IS_PARAM_SPEC_BOOLEAN(spec)) return g_strdup("true or false");
    if (G_IS_PARAM_SPEC_INT(spec))
        return g_strdup_printf("whole numbers from %d to %d", G_PARAM_SPEC_INT(spec)->minimum, G_PARAM_SPEC_INT(spec)->maximum);
    if (G_IS_PARAM_SPEC_UINT(spec))
        return g_strdup_printf("whole numbers from %u to %u", G_PARAM_SPEC_UINT(spec)->minimum, G_PARAM_SPEC_UINT(spec)->maximum);
    if (G_IS_PARAM_SPEC_INT64(spec))
        return g_strdup_printf("whole numbers from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT, G_PARAM_SPEC_INT64(spec)->minimum, G_PARAM_SPEC_INT64(spec)->maximum);
    if (G_IS_PARAM_SPEC_UINT64(spec))
        return g_strdup_printf("whole numbers from %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT, G_PARAM_SPEC_UINT64(spec)->minimum, G_PARAM_SPEC_UINT64(spec)->maximum);
    if (G_IS_PARAM_SPEC_DOUBLE(spec))
        return g_strdup_printf("numbers from %g to %g", G_PARAM_SPEC_DOUBLE(spec)->minimum, G_PARAM_SPEC_DOUBLE(spec)->maximum);
    if (G_IS_PARAM_SPEC_FLOAT(spec))
        return g_strdup_printf("numbers from %g to %g", (double)G_PARAM_SPEC_FLOAT(spec)->minimum, (double)G_PARAM_SPEC_FLOAT(spec)->maximum);
    if (GST_IS_PARAM_SPEC_FRACTION(spec)) {
        GstParamSpecFraction *fraction = GST_PARAM_SPEC_FRACTION(spec);
        return g_strdup_printf("fractions from %d/%d to %d/%d", fraction->min_num, fraction->min_den, fraction->max_num, fraction->max_den);
    }
    return NULL;
}

// Reason: variadic (g_object_get). Returns the value of an int property; `otherwise` if there is no such
// property.
static inline gint mb_get_int_or(gpointer object, const gchar *name, gint otherwise) {
    GParamSpec *spec = g_object_class_find_property(G_OBJECT_GET_CLASS(object), name);
    gint value = otherwise;
    if (spec && (spec->flags & G_PARAM_READABLE) && G_IS_PARAM_SPEC_INT(spec)) g_object_get(object, name, &value, NULL);
    return value;
}

// Reason: variadic (g_object_get). The caller releases the element.
static inline GstElement *mb_get_element(gpointer object, const gchar *name) { GstElement *v = NULL; g_object_get(object, name, &v, NULL); return v; }

// Reason: macro (G_PARAM_SPEC_VALUE_TYPE). A property read as another type overwrites the stack.
static inline gboolean mb_property_is(gpointer object, const gchar *name, GType type) {
    GParamSpec *spec = g_object_class_find_property(G_OBJECT_GET_CLASS(object), name);
    return spec && (spec->flags & G_PARAM_READABLE) && G_PARAM_SPEC_VALUE_TYPE(spec) == type;
}
static inline gboolean mb_property_is_string(gpointer object, const gchar *name) { return mb_property_is(object, name, G_TYPE_STRING); }
static inline gboolean mb_property_is_bool(gpointer object, const gchar *name) { return mb_property_is(object, name, G_TYPE_BOOLEAN); }
static inline gboolean mb_property_is_uint(gpointer object, const gchar *name) { return mb_property_is(object, name, G_TYPE_UINT); }

// Reason: macro (G_IS_PARAM_SPEC_ENUM), and variadic (g_object_get). Returns -1 (all ones) if the property is
// not an enum.
static inline gint mb_get_enum(gpointer object, const gchar *name) {
    GParamSpec *spec = g_object_class_find_property(G_OBJECT_GET_CLASS(object), name);
    gint value = -1;
    if (spec && (spec->flags & G_PARAM_READABLE) && G_IS_PARAM_SPEC_ENUM(spec)) g_object_get(object, name, &value, NULL);
    return value;
}

// Reason: variadic (g_object_set, g_object_get).
static inline void mb_set_string(gpointer object, const gchar *name, const gchar *value) { g_object_set(object, name, value, NULL); }
static inline void mb_set_uint64(gpointer object, const gchar *name, guint64 value) { g_object_set(object, name, value, NULL); }
static inline void mb_set_caps(gpointer object, const gchar *name, const GstCaps *value) { g_object_set(object, name, value, NULL); }
static inline guint64 mb_get_uint64(gpointer object, const gchar *name) { guint64 v = 0; g_object_get(object, name, &v, NULL); return v; }
static inline guint mb_get_uint(gpointer object, const gchar *name) { guint v = 0; g_object_get(object, name, &v, NULL); return v; }
static inline gboolean mb_get_bool(gpointer object, const gchar *name) { gboolean v = FALSE; g_object_get(object, name, &v, NULL); return v; }
static inline gchar *mb_get_string(gpointer object, const gchar *name) { gchar *v = NULL; g_object_get(object, name, &v, NULL); return v; }
static inline GstStructure *mb_get_structure(gpointer object, const gchar *name) { GstStructure *v = NULL; g_object_get(object, name, &v, NULL); return v; }

// Reason: macros (G_VALUE_HOLDS and its kin). Returns the text that gst-launch-1.0 -v prints for a value, to be
// freed; NULL for a value without text.
static inline gchar *mb_value_text(const GValue *value) {
    gchar *text = NULL;
    if (G_VALUE_HOLDS_STRING(value)) text = g_value_dup_string(value);
    else if (G_VALUE_HOLDS(value, GST_TYPE_CAPS)) {
        const GstCaps *caps = gst_value_get_caps(value);
        if (caps) text = gst_caps_to_string(caps);
    } else if (G_VALUE_HOLDS(value, GST_TYPE_TAG_LIST)) {
        const GstTagList *list = (const GstTagList *)g_value_get_boxed(value);
        if (list) text = gst_tag_list_to_string(list);
    } else if (G_VALUE_HOLDS(value, GST_TYPE_STRUCTURE)) {
        const GstStructure *structure = gst_value_get_structure(value);
        if (structure) text = gst_structure_to_string(structure);
    } else text = gst_value_serialize(value);
    return text;
}

// Reason: as above. Returns the text that gst-launch-1.0 -t prints for a tag's value, to be freed; for a
// picture, its size and type.
static inline gchar *mb_tag_text(const GstTagList *list, const gchar *tag, guint index) {
    const GValue *value = gst_tag_list_get_value_index(list, tag, index);
    if (!value) return NULL;
    if (G_VALUE_HOLDS_STRING(value)) return g_value_dup_string(value);
    if (G_VALUE_HOLDS(value, GST_TYPE_SAMPLE)) {
        GstSample *sample = gst_value_get_sample(value);
        GstBuffer *buffer = sample ? gst_sample_get_buffer(sample) : NULL;
        GstCaps *caps = sample ? gst_sample_get_caps(sample) : NULL;
        gchar *type = caps ? gst_caps_to_string(caps) : g_strdup("unknown");
        gchar *text = g_strdup_printf("buffer of %" G_GSIZE_FORMAT " bytes, type: %s",
                                      buffer ? gst_buffer_get_size(buffer) : 0, type);
        g_free(type);
        return text;
    }
    if (G_VALUE_HOLDS(value, GST_TYPE_DATE_TIME)) {
        GstDateTime *time = (GstDateTime *)g_value_get_boxed(value);
        return time ? gst_date_time_to_iso8601_string(time) : NULL;
    }
    return g_strdup_value_contents(value);
}

// Reason: macros (GST_VALUE_HOLDS_BUFFER, gst_value_get_buffer). The value owns the buffer; NULL if it
// holds none.
static inline GstBuffer *mb_value_buffer(const GValue *value) {
    return GST_VALUE_HOLDS_BUFFER(value) ? gst_value_get_buffer(value) : NULL;
}

// Reason: macro (GST_OBJECT_NAME on a factory, whose name never changes).
static inline const gchar *mb_factory_name(GstElementFactory *factory) { return GST_OBJECT_NAME(factory); }

// Reason: a cast (GST_PLUGIN_FEATURE).
static inline const gchar *mb_factory_plugin(GstElementFactory *factory) {
    return gst_plugin_feature_get_plugin_name(GST_PLUGIN_FEATURE(factory));
}

// Reason: macro (G_OBJECT_TYPE): a plain bin that no factory made.
static inline gboolean mb_is_plain_bin(gconstpointer element) { return G_OBJECT_TYPE(element) == GST_TYPE_BIN; }

// Reason: macros (the metadata keys).
static inline const gchar *mb_factory_class(GstElementFactory *factory) {
    return gst_element_factory_get_metadata(factory, GST_ELEMENT_METADATA_KLASS);
}
static inline const gchar *mb_factory_long_name(GstElementFactory *factory) {
    return gst_element_factory_get_metadata(factory, GST_ELEMENT_METADATA_LONGNAME);
}

// MARK: Video frames

// One plane of a mapped frame, bounded by the mapped memory.
typedef struct {
    guint8 *bytes;       // the first byte of the first row
    gsize available;     // bytes from there to the end of the mapping
    gint stride;         // bytes from row to row
    gint width;          // samples in a row
    gint rows;
    gint pixel_stride;   // bytes from one sample of the plane's first component to the next; 0: packed bits
    gint depth;          // significant bits of the plane's first component
} MBPlane;

// Reason: macros (GST_VIDEO_FRAME_COMP_*, GST_VIDEO_FORMAT_INFO_*) for all of these fields.
static inline MBPlane mb_video_frame_plane(const GstVideoFrame *frame, guint plane) {
    MBPlane out = {0};
    const GstVideoFormatInfo *format = frame->info.finfo;
    gint components[GST_VIDEO_MAX_COMPONENTS];
    gst_video_format_info_component(format, plane, components);
    gint component = components[0] < 0 ? 0 : components[0];
    out.bytes = GST_VIDEO_FRAME_PLANE_DATA(frame, plane);
    out.stride = GST_VIDEO_FRAME_PLANE_STRIDE(frame, plane);
    out.width = GST_VIDEO_FRAME_COMP_WIDTH(frame, component);
    out.rows = GST_VIDEO_FRAME_COMP_HEIGHT(frame, component);
    out.pixel_stride = GST_VIDEO_FORMAT_INFO_PSTRIDE(format, component);
    out.depth = GST_VIDEO_FORMAT_INFO_DEPTH(format, component);
    // The palette of RGB8P is a plane in name only: 256 rows of one colour each.
    if (GST_VIDEO_FORMAT_INFO_HAS_PALETTE(format) && plane == GST_VIDEO_COMP_PALETTE) {
        out.width = 1;
        out.rows = 256;
        out.pixel_stride = 4;
        out.depth = 8;
    }
    // With a GstVideoMeta each plane has a separate mapping; without one, the first mapping contains all
    // planes.
    for (guint i = 0; i < GST_VIDEO_MAX_PLANES; i++) {
        const GstMapInfo *map = &frame->map[i];
        if (map->data && out.bytes >= map->data && out.bytes < map->data + map->size) {
            out.available = (gsize)(map->data + map->size - out.bytes);
            break;
        }
    }
    return out;
}

// Whether all rows of a plane are within the mapping. If samples are not a whole number of bytes apart, a row
// is as long as in the default layout. For tiled formats the row length is meaningless, so the whole plane must
// be within the mapping.
static inline gboolean mb_video_plane_fits(const MBPlane *plane, const GstVideoInfo *info, guint index) {
    guint64 row, end;
    if (!plane->bytes || plane->stride <= 0 || plane->rows <= 0 || plane->width <= 0) return FALSE;
    if (GST_VIDEO_FORMAT_INFO_IS_TILED(info->finfo)) {
        end = index + 1 < GST_VIDEO_INFO_N_PLANES(info) ? info->offset[index + 1] : info->size;
        return plane->stride == info->stride[index] && end - info->offset[index] <= plane->available;
    }
    row = plane->pixel_stride > 0 ? (guint64)plane->width * plane->pixel_stride : (guint64)info->stride[index];
    end = (guint64)(plane->rows - 1) * plane->stride + row;
    return row <= (guint64)plane->stride && end <= plane->available;
}

// Reason: macro.
static inline GstVideoCropMeta *mb_video_crop(GstBuffer *buffer) { return gst_buffer_get_video_crop_meta(buffer); }

// Whether the buffer's GstVideoMeta describes pictures of this format and of at least this size. It may not if
// caps were changed on the way. Reason: macro (gst_buffer_get_video_meta).
static inline gboolean mb_video_meta_fits(GstBuffer *buffer, const GstVideoInfo *info) {
    const GstVideoMeta *meta = gst_buffer_get_video_meta(buffer);
    if (!meta) return TRUE;
    return meta->format == GST_VIDEO_INFO_FORMAT(info) && meta->n_planes == GST_VIDEO_INFO_N_PLANES(info) &&
           meta->width >= (guint)info->width && meta->height >= (guint)info->height;
}

// Whether pictures of this format fit into the buffer's memory, without mapping it. Elements trust caps and
// meta: some read past the end of the memory, others pass on uninitialised bytes. Device memory is accepted:
// its own allocator checks it. Reason: macros (GST_VIDEO_INFO_*, GST_ALLOCATOR_SYSMEM).
static inline gboolean mb_video_fits(GstBuffer *buffer, const GstVideoInfo *info) {
    const GstVideoMeta *meta = gst_buffer_get_video_meta(buffer);
    const gsize size = gst_buffer_get_size(buffer);
    if (gst_buffer_n_memory(buffer) == 0) return FALSE;
    if (!gst_memory_is_type(gst_buffer_peek_memory(buffer, 0), GST_ALLOCATOR_SYSMEM)) return TRUE;
    if (!meta) return size >= info->size;
    if (!mb_video_meta_fits(buffer, info)) return FALSE;
    gboolean is_usual = size >= info->size;
    for (guint i = 0; i < GST_VIDEO_INFO_N_PLANES(info); i++)
        is_usual = is_usual && meta->offset[i] == info->offset[i] && meta->stride[i] == info->stride[i];
    if (is_usual) return TRUE;
    GstVideoFrame frame = {0};
    frame.info = *info;
    for (guint i = 0; i < GST_VIDEO_INFO_N_PLANES(info); i++) {
        MBPlane plane = mb_video_frame_plane(&frame, i);
        plane.bytes = (guint8 *)buffer;  // any non-NULL pointer: the buffer is not mapped
        plane.stride = meta->stride[i];
        plane.available = meta->offset[i] < size ? size - meta->offset[i] : 0;
        if (!mb_video_plane_fits(&plane, info, i)) return FALSE;
    }
    return TRUE;
}

// Whether the buffer has a meta other than the layout of its planes and the parent buffer that keeps its
// memory. Reason: macros (GST_*_META_API_TYPE).
static inline gboolean mb_buffer_has_attachments(GstBuffer *buffer) {
    gpointer state = NULL;
    for (GstMeta *meta; (meta = gst_buffer_iterate_meta(buffer, &state));)
        if (meta->info->api != GST_VIDEO_META_API_TYPE && meta->info->api != GST_PARENT_BUFFER_META_API_TYPE)
            return TRUE;
    return FALSE;
}

// Maps a buffer for writing. Requires mb_buffer_is_sole and mb_video_meta_fits. Maps the buffer's only memory
// directly, because gst_video_frame_map refuses a buffer that it considers shared. Unmap it with
// mb_video_frame_unmap_sole. Reason: macros (GST_VIDEO_INFO_*), and pointer arithmetic on the map.
static inline gboolean mb_video_frame_map_sole(GstVideoFrame *frame, const GstVideoInfo *info, GstBuffer *buffer) {
    memset(frame, 0, sizeof *frame);
    frame->info = *info;
    frame->buffer = buffer;
    const GstVideoMeta *meta = gst_buffer_get_video_meta(buffer);
    for (guint i = 0; meta && i < GST_VIDEO_INFO_N_PLANES(info); i++) {
        frame->info.offset[i] = meta->offset[i];
        frame->info.stride[i] = meta->stride[i];
    }
    if (!gst_memory_map(gst_buffer_peek_memory(buffer, 0), &frame->map[0], GST_MAP_READWRITE)) return FALSE;
    gboolean fits = meta || frame->map[0].size >= info->size;
    for (guint i = 0; i < GST_VIDEO_INFO_N_PLANES(info); i++) {
        if (frame->info.offset[i] >= frame->map[0].size) fits = FALSE;
        if (fits) frame->data[i] = frame->map[0].data + frame->info.offset[i];
    }
    if (!fits) gst_memory_unmap(frame->map[0].memory, &frame->map[0]);
    return fits;
}
static inline void mb_video_frame_unmap_sole(GstVideoFrame *frame) {
    gst_memory_unmap(frame->map[0].memory, &frame->map[0]);
}

// Reason: macros (GST_VIDEO_FORMAT_INFO_FLAGS and its bits).
static inline gboolean mb_video_format_is_yuv(const GstVideoFormatInfo *format) { return GST_VIDEO_FORMAT_INFO_IS_YUV(format); }
static inline gboolean mb_video_format_is_rgb(const GstVideoFormatInfo *format) { return GST_VIDEO_FORMAT_INFO_IS_RGB(format); }
static inline gboolean mb_video_format_is_gray(const GstVideoFormatInfo *format) { return GST_VIDEO_FORMAT_INFO_IS_GRAY(format); }
static inline gboolean mb_video_format_is_complex(const GstVideoFormatInfo *format) {
    return GST_VIDEO_FORMAT_INFO_IS_COMPLEX(format) || GST_VIDEO_FORMAT_INFO_IS_TILED(format);
}
static inline gboolean mb_video_format_is_tiled(const GstVideoFormatInfo *format) { return GST_VIDEO_FORMAT_INFO_IS_TILED(format); }
static inline gboolean mb_video_format_is_little_endian(const GstVideoFormatInfo *format) { return GST_VIDEO_FORMAT_INFO_IS_LE(format); }
static inline guint mb_video_format_components(const GstVideoFormatInfo *format) { return GST_VIDEO_FORMAT_INFO_N_COMPONENTS(format); }
static inline gint mb_video_format_component_plane(const GstVideoFormatInfo *format, guint c) { return GST_VIDEO_FORMAT_INFO_PLANE(format, c); }
static inline gint mb_video_format_component_offset(const GstVideoFormatInfo *format, guint c) { return GST_VIDEO_FORMAT_INFO_POFFSET(format, c); }
static inline gint mb_video_format_component_pixel_stride(const GstVideoFormatInfo *format, guint c) { return GST_VIDEO_FORMAT_INFO_PSTRIDE(format, c); }
static inline gint mb_video_format_component_shift(const GstVideoFormatInfo *format, guint c) { return GST_VIDEO_FORMAT_INFO_SHIFT(format, c); }
static inline gint mb_video_format_component_depth(const GstVideoFormatInfo *format, guint c) { return GST_VIDEO_FORMAT_INFO_DEPTH(format, c); }

// The headers declare these two functions G_GNUC_CONST: the result depends only on the pointer, not on the text
// that it points to. Optimised Swift code therefore frees a temporary string before the call. A call through a
// volatile function pointer does not have this attribute. Reason: the attribute.
static inline GstVideoFormat mb_video_format_from_string(const gchar *name) {
    GstVideoFormat (*volatile parse)(const gchar *) = gst_video_format_from_string;
    return parse(name);
}
static inline GstAudioFormat mb_audio_format_from_string(const gchar *name) {
    GstAudioFormat (*volatile parse)(const gchar *) = gst_audio_format_from_string;
    return parse(name);
}

// MARK: Audio frames

// Reason: macro (gst_buffer_get_audio_meta).
static inline const GstAudioMeta *mb_buffer_audio_meta(GstBuffer *buffer) { return gst_buffer_get_audio_meta(buffer); }

// The channel positions as a bit mask; zero for mono and for channels without positions.
// Reason: an array of 64 is imported as a tuple, but the function takes a pointer.
static inline guint64 mb_audio_info_mask(const GstAudioInfo *info) {
    guint64 mask = 0;
    if (GST_AUDIO_INFO_IS_UNPOSITIONED(info) ||
        !gst_audio_channel_positions_to_mask(info->position, info->channels, FALSE, &mask)) return 0;
    return mask;
}

// A mask of zero means mono for one channel, and channels without positions for more.
// Reason: as above.
static inline gboolean mb_audio_info_set(GstAudioInfo *info, GstAudioFormat format, gint rate, gint channels,
                                         guint64 mask, gboolean planar) {
    GstAudioChannelPosition position[64];
    if (channels < 1 || channels > 64 || rate < 1) return FALSE;
    if (mask == 0) {
        for (gint i = 0; i < 64; i++) position[i] = GST_AUDIO_CHANNEL_POSITION_NONE;
        if (channels == 1) position[0] = GST_AUDIO_CHANNEL_POSITION_MONO;
    } else if (!gst_audio_channel_positions_from_mask(channels, mask, position)) return FALSE;
    gst_audio_info_set_format(info, format, rate, channels, position);
    if (planar) info->layout = GST_AUDIO_LAYOUT_NON_INTERLEAVED;
    return TRUE;
}

// Whether a buffer can be mapped as audio of a format. If not, gst_audio_buffer_map logs a CRITICAL, which ends
// the process if warnings are fatal. It also checks only the start of each plane. Reason: macros.
static inline gboolean mb_audio_fits(GstBuffer *buffer, const GstAudioInfo *info) {
    const GstAudioMeta *meta = gst_buffer_get_audio_meta(buffer);
    if (!meta) return info->layout == GST_AUDIO_LAYOUT_INTERLEAVED;
    if (meta->info.layout != info->layout || meta->info.channels != info->channels ||
        GST_AUDIO_INFO_FORMAT(&meta->info) != GST_AUDIO_INFO_FORMAT(info)) return FALSE;
    const gboolean planar = info->layout == GST_AUDIO_LAYOUT_NON_INTERLEAVED;
    const gsize all = gst_buffer_get_size(buffer), step = planar ? info->bpf / info->channels : info->bpf;
    if (step == 0 || meta->samples > all / step || (planar && !meta->offsets)) return FALSE;
    for (gint i = 0; planar && i < info->channels; i++) {
        if (meta->offsets[i] > all - meta->samples * step) return FALSE;
    }
    return TRUE;
}

// The number of samples per channel that the memory contains. Reason: as above.
static inline gsize mb_audio_samples(GstBuffer *buffer, const GstAudioInfo *info) {
    const GstAudioMeta *meta = gst_buffer_get_audio_meta(buffer);
    const gsize most = gst_buffer_get_size(buffer) / info->bpf;
    return meta ? MIN(meta->samples, most) : most;
}

// Whether a plane of mapped audio has at least `bytes` bytes. Interleaved audio has one mapping; planar audio
// has one mapping per plane. Reason: an array imported as a tuple, and pointer arithmetic.
static inline gboolean mb_audio_plane_fits(const GstAudioBuffer *buffer, gint plane, gsize bytes) {
    if (bytes == 0) return TRUE;
    for (gint i = 0; i < buffer->n_planes; i++) {
        const GstMapInfo *map = &buffer->map_infos[i];
        const guint8 *start = buffer->planes[plane];
        if (map->data && start >= map->data && start <= map->data + map->size)
            return bytes <= (gsize)(map->data + map->size - start);
    }
    return FALSE;
}

// Reason: a structure that may be absent, and a field name that Swift passes as a string.
static inline const gchar *mb_structure_string(const GstStructure *structure, const gchar *field) {
    return structure ? gst_structure_get_string(structure, field) : NULL;
}

// Reason: @Sendable, and a callback whose real type g_signal_connect_data does not declare. `signal` is `notify::`
// with the name of a property.
static inline void mb_on_notify(gpointer object, const gchar *signal, MBNotifyHandler handler MB_SENDABLE,
                                gpointer context, MBClosureDestroy destroy MB_SENDABLE) {
    g_signal_connect_data(object, signal, G_CALLBACK(handler), context, destroy, (GConnectFlags)0);
}

// Emits an rtspsrc's action signal `get-parameter`, which queues a request. The answer is ignored. Reason: variadic.
static inline void mb_request_parameter(GstElement *element, const gchar *name) {
    gboolean is_queued = FALSE;
    GstPromise *answer = gst_promise_new();
    g_signal_emit_by_name(element, "get-parameter", name, NULL, answer, &is_queued);
    gst_promise_unref(answer);
}

#endif
