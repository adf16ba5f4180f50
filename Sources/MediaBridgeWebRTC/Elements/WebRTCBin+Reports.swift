internal import CMediaBridge
internal import CWebRTC
internal import GStreamerKit

/// RTCP reports of the two peers.
extension WebRTCBin {
    /// Calls `body` with each RTCP packet of the peer, on the thread that receives it. Call it when both
    /// descriptions are set.
    ///
    /// - Returns: False if there is no RTP session yet.
    func onControlPacket(_ body: @escaping @Sendable ([UInt8]) -> Void) -> Bool {
        guard let session = mb_webrtc_session(element.pointer) else { return false }
        defer { g_object_unref(session) }
        mb_on_rtcp(
            session,
            { _, packet, context in
                guard let packet, let bytes = MappedBuffer(Buffer(retaining: packet)) else {
                    return
                }
                SignalListener<[UInt8]>.call(
                    context, bytes.bytes.withUnsafeBytes { Array($0) })
            }, SignalListener<[UInt8]>.context(body), SignalRelease.function)
        return true
    }

    /// Calls `body` with the bytes of each RTCP packet before it is sent, on the thread that sends it; it may
    /// change them. Call it when both descriptions are set.
    func onOwnControlPacket(
        _ body: @escaping @Sendable (UnsafeMutableRawBufferPointer) -> Void
    ) {
        guard let session = mb_webrtc_session(element.pointer) else { return }
        defer { g_object_unref(session) }
        mb_on_own_rtcp(
            session,
            { _, packet, _, context in
                var map = GstMapInfo()
                guard let packet, gst_buffer_map(packet, &map, GST_MAP_WRITE) != 0 else { return 0 }
                SignalListener<UnsafeMutableRawBufferPointer>.call(
                    context, UnsafeMutableRawBufferPointer(start: map.data, count: Int(map.size)))
                gst_buffer_unmap(packet, &map)
                return 0
            }, SignalListener<UnsafeMutableRawBufferPointer>.context(body), SignalRelease.function)
    }

    /// Sends requests for lost packets immediately, and reports often. Call it when both descriptions are set.
    ///
    /// By default RTCP may use only a share of the bandwidth of one video stream. This allows a request every 0.2
    /// to 0.7 s, and the report on every picture's packets uses it up, so most packets would be resent too late.
    /// Reports on packets are sent every 50 ms, as bit rate estimation requires. Reports on streams are sent every
    /// 0.5 s instead of every 5 s: Janus keeps no packets for retransmission until reports have given it the
    /// round-trip time, and browsers synchronise audio and video only once they have the reports.
    ///
    /// Source: RFC 4585, section 3.5.2, and GStreamer's `rtpsession`, which implements it.
    func reportAtOnce() {
        guard let session = mb_webrtc_session(element.pointer) else { return }
        mb_session_set_feedback(session, 20_000_000, 50_000_000, 500_000_000)
        g_object_unref(session)
    }

    /// Calls `isNew` with the transport-wide sequence number of each packet from the peer, on the thread that
    /// receives it. A packet whose number is not new is treated as a packet without a number. Call it when both
    /// descriptions are set.
    ///
    /// - Parameter id: The identifier of the number's header extension.
    func filterNumbers(
        ofExtension id: Int, in pipeline: Pipeline,
        _ isNew: @escaping @Sendable (UInt16) -> Bool
    ) {
        for inner in pipeline.elements where inner.factoryName == "rtpsession" {
            inner.pad("recv_rtp_sink")?.filterNumbers(ofExtension: id, isNew)
        }
    }

    /// Applies timestamp corrections from the sender's reports gradually: 5 ms per packet. This is less than the
    /// interval between any two pictures, so no picture is due before the previous one.
    func correctTimesSlowly(in pipeline: Pipeline) {
        for inner in pipeline.elements where inner.factoryName == "rtpbin" {
            inner.set("max-ts-offset-adjustment", "5000000")
        }
    }
}
