// Calls of webrtcbin, by the names of its signals and properties. The headers of its types are in
// libgstreamer-plugins-bad1.0-dev, which needs some 150 other packages; this header repeats the one structure
// that is needed.
#ifndef CWEBRTC_H
#define CWEBRTC_H

#include "../CMediaBridge/CMediaBridge.h"

#include <gst/sdp/sdp.h>

typedef void (*MBPromiseHandler)(GstPromise *promise, gpointer context);
typedef void (*MBPacketHandler)(GObject *session, GstBuffer *packet, gpointer context);
typedef gboolean (*MBOwnPacketHandler)(GObject *session, GstBuffer *packet, gboolean isEarly, gpointer context);
typedef void (*MBChannelHandler)(GstElement *bin, GObject *channel, gpointer context);
typedef void (*MBTextHandler)(GObject *channel, const gchar *text, gpointer context);
typedef void (*MBBytesHandler)(GObject *channel, GBytes *bytes, gpointer context);

// The public layout of GstWebRTCSessionDescription.
typedef struct {
    gint type;
    GstSDPMessage *sdp;
} MBSessionDescription;

// Reason: @Sendable.
static inline GstPromise *mb_promise_new(MBPromiseHandler handler MB_SENDABLE, gpointer context,
                                         MBDestroy destroy MB_SENDABLE) {
    return gst_promise_new_with_change_func(handler, context, destroy);
}

// Reason: a cast (gst_promise_unref is an inline over gst_mini_object_unref).
static inline void mb_promise_unref(GstPromise *promise) { gst_promise_unref(promise); }

// Reason: macros (G_VALUE_HOLDS, G_TYPE_ERROR). Returns why a promise failed, to be freed with g_free; NULL if it
// succeeded.
static inline gchar *mb_promise_failure(GstPromise *promise) {
    const GstStructure *reply;
    const GValue *value;
    if (gst_promise_wait(promise) != GST_PROMISE_RESULT_REPLIED) return g_strdup("the connection is closed");
    reply = gst_promise_get_reply(promise);
    value = reply ? gst_structure_get_value(reply, "error") : NULL;
    if (!value || !G_VALUE_HOLDS(value, G_TYPE_ERROR)) return NULL;
    return g_strdup(((GError *)g_value_get_boxed(value))->message);
}

// Reason: macro (G_VALUE_HOLDS_BOXED). Returns the description in a reply as text, to be freed with g_free; NULL if
// there is none.
static inline gchar *mb_promise_description(GstPromise *promise, const gchar *field) {
    const GstStructure *reply = gst_promise_get_reply(promise);
    const GValue *value = reply ? gst_structure_get_value(reply, field) : NULL;
    const MBSessionDescription *description;
    if (!value || !G_VALUE_HOLDS_BOXED(value)) return NULL;
    description = (const MBSessionDescription *)g_value_get_boxed(value);
    return description && description->sdp ? gst_sdp_message_as_text(description->sdp) : NULL;
}

// Reason: variadic (g_signal_emit_by_name). `create-offer` and `create-answer`.
static inline void mb_webrtc_create(GstElement *bin, const gchar *action, GstPromise *promise) {
    g_signal_emit_by_name(bin, action, NULL, promise);
}

// Reason: as above. Emits `set-local-description` or `set-remote-description`, which copy the description;
// returns false if the text is not SDP.
static inline gboolean mb_webrtc_set(GstElement *bin, const gchar *action, gint type, const gchar *text, GstPromise *promise) {
    MBSessionDescription description = {type, NULL};
    if (gst_sdp_message_new_from_text(text, &description.sdp) != GST_SDP_OK) return FALSE;
    g_signal_emit_by_name(bin, action, &description, promise);
    gst_sdp_message_free(description.sdp);
    return TRUE;
}

// Reason: variadic (g_object_get). Returns `local-description` or `remote-description` as text, to be freed with g_free.
static inline gchar *mb_webrtc_description(GstElement *bin, const gchar *property) {
    MBSessionDescription *description = NULL;
    gchar *text;
    g_object_get(bin, property, &description, NULL);
    if (!description) return NULL;
    text = description->sdp ? gst_sdp_message_as_text(description->sdp) : NULL;
    g_boxed_free(g_type_from_name("GstWebRTCSessionDescription"), description);
    return text;
}

// Reason: variadic.
static inline void mb_webrtc_add_candidate(GstElement *bin, guint line, const gchar *candidate) {
    g_signal_emit_by_name(bin, "add-ice-candidate", line, candidate);
}
static inline gboolean mb_webrtc_add_turn_server(GstElement *bin, const gchar *uri) {
    gboolean isTaken = FALSE;
    g_signal_emit_by_name(bin, "add-turn-server", uri, &isTaken);
    return isTaken;
}

// Reason: variadic. The caller owns the transceiver.
static inline GObject *mb_webrtc_add_transceiver(GstElement *bin, gint direction, GstCaps *caps) {
    GObject *transceiver = NULL;
    g_signal_emit_by_name(bin, "add-transceiver", direction, caps, &transceiver);
    return transceiver;
}

// Reason: variadic, and macro (g_array_index). Sets direction and retransmission of the transceiver at an
// index; returns false if there is none.
static inline gboolean mb_webrtc_set_transceiver(GstElement *bin, guint place, gint direction, gboolean retransmits) {
    GArray *list = NULL;
    gboolean isThere;
    g_signal_emit_by_name(bin, "get-transceivers", &list);
    isThere = list && place < list->len;
    if (isThere) {
        GObject *transceiver = g_array_index(list, GObject *, place);
        g_object_set(transceiver, "direction", direction, "do-nack", retransmits, NULL);
    }
    if (list) g_array_unref(list);
    return isThere;
}

// Reason: as above. Returns the DTLS transport of the first transceiver, which all share in a bundle, to be released
// with g_object_unref; NULL before a description is set.
static inline GObject *mb_webrtc_transport(GstElement *bin) {
    GArray *list = NULL;
    GObject *receiver = NULL, *transport = NULL;
    g_signal_emit_by_name(bin, "get-transceivers", &list);
    if (list && list->len > 0) g_object_get(g_array_index(list, GObject *, 0), "receiver", &receiver, NULL);
    if (list) g_array_unref(list);
    if (receiver) g_object_get(receiver, "transport", &transport, NULL);
    if (receiver) g_object_unref(receiver);
    return transport;
}

// Reason: macro (GST_PAD_SINK among the arguments of the request), and one step. Sends the DTLS notification
// that the connection is closed to the peer. webrtcbin does not send it when it stops.
static inline void mb_dtls_say_goodbye(GstElement *encoder) {
    GstPad *pad = gst_element_get_static_pad(encoder, "sink");
    if (!pad) pad = gst_element_request_pad_simple(encoder, "sink");
    if (!pad) return;
    gst_pad_send_event(pad, gst_event_new_eos());
    gst_object_unref(pad);
}

// Reason: variadic. Returns the RTP session of the bundle, to be released with g_object_unref; NULL before there is
// one.
static inline GObject *mb_webrtc_session(GstElement *bin) {
    GObject *session = NULL;
    GstElement *rtpbin = gst_bin_get_by_name(GST_BIN(bin), "rtpbin");
    if (!rtpbin) return NULL;
    g_signal_emit_by_name(rtpbin, "get-internal-session", 0, &session);
    gst_object_unref(rtpbin);
    return session;
}

// Reason: variadic. `bandwidth` is in bits per second, of which RTCP may use a twentieth. The intervals are in
// nanoseconds: of reports on the arrival time of each packet, and of reports on streams.
static inline void mb_session_set_feedback(GObject *session, gdouble bandwidth, guint64 packets, guint64 streams) {
    g_object_set(session, "bandwidth", bandwidth, "twcc-feedback-interval", packets, "rtcp-min-interval", streams, NULL);
}

// Reason: @Sendable, and a callback whose real type g_signal_connect_data does not declare. The handler gets
// each RTCP packet from the peer, on the thread that receives it.
static inline void mb_on_rtcp(GObject *session, MBPacketHandler handler MB_SENDABLE,
                              gpointer context, MBClosureDestroy destroy MB_SENDABLE) {
    g_signal_connect_data(session, "on-receiving-rtcp", G_CALLBACK(handler), context, destroy, (GConnectFlags)0);
}

// Reason: as above. The handler gets each RTCP packet before it is sent, and may change it.
static inline void mb_on_own_rtcp(GObject *session, MBOwnPacketHandler handler MB_SENDABLE,
                                  gpointer context, MBClosureDestroy destroy MB_SENDABLE) {
    g_signal_connect_data(session, "on-sending-rtcp", G_CALLBACK(handler), context, destroy, (GConnectFlags)0);
}

// Reason: variadic. Creates a data channel; the caller owns it. NULL if the connection is closed.
static inline GObject *mb_webrtc_create_channel(GstElement *bin, const gchar *label) {
    GObject *channel = NULL;
    g_signal_emit_by_name(bin, "create-data-channel", label, NULL, &channel);
    return channel;
}

// Reason: @Sendable, and callbacks whose real types g_signal_connect_data does not declare.
static inline void mb_webrtc_on_channel(GstElement *bin, MBChannelHandler handler MB_SENDABLE,
                                        gpointer context,
                                        MBClosureDestroy destroy MB_SENDABLE) {
    g_signal_connect_data(bin, "on-data-channel", G_CALLBACK(handler), context, destroy, (GConnectFlags)0);
}
static inline void mb_channel_on_text(GObject *channel, MBTextHandler handler MB_SENDABLE,
                                      gpointer context,
                                      MBClosureDestroy destroy MB_SENDABLE) {
    g_signal_connect_data(channel, "on-message-string", G_CALLBACK(handler), context, destroy, (GConnectFlags)0);
}
static inline void mb_channel_on_bytes(GObject *channel, MBBytesHandler handler MB_SENDABLE,
                                       gpointer context,
                                       MBClosureDestroy destroy MB_SENDABLE) {
    g_signal_connect_data(channel, "on-message-data", G_CALLBACK(handler), context, destroy, (GConnectFlags)0);
}

// Reason: variadic.
static inline guint64 mb_channel_waiting(GObject *channel) {
    guint64 bytes = 0;
    g_object_get(channel, "buffered-amount", &bytes, NULL);
    return bytes;
}
static inline void mb_channel_send_bytes(GObject *channel, GBytes *bytes) {
    g_signal_emit_by_name(channel, "send-data", bytes);
}

// Reason: variadic. Disables UPnP, which costs 200 ms and asks the local network to open ports, and ICE over TCP,
// which listens on a TCP port of each address and connects to any address that the peer names. Returns false if
// there is no ICE agent.
static inline gboolean mb_webrtc_use_only_udp(GstElement *bin) {
    GObject *ice = NULL, *agent = NULL;
    g_object_get(bin, "ice-agent", &ice, NULL);
    if (ice) g_object_get(ice, "agent", &agent, NULL);
    if (agent) g_object_set(agent, "upnp", FALSE, "ice-tcp", FALSE, NULL);
    if (agent) g_object_unref(agent);
    if (ice) g_object_unref(ice);
    return agent != NULL;
}

// Reason: variadic. Gathers candidates only at this address, and at other addresses that are added.
static inline gboolean mb_webrtc_add_local_address(GstElement *bin, const gchar *address) {
    GObject *ice = NULL;
    gboolean isAdded = FALSE;
    g_object_get(bin, "ice-agent", &ice, NULL);
    if (!ice) return FALSE;
    g_signal_emit_by_name(ice, "add-local-ip-address", address, &isAdded);
    g_object_unref(ice);
    return isAdded;
}

#endif
