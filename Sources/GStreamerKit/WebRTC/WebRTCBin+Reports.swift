internal import CMediaBridge

/// What the two sides report to each other by RTCP.
extension WebRTCBin {
    /// Calls `body` with each RTCP packet of the peer, on the thread that receives it. Call it when both
    /// descriptions are set.
    ///
    /// - Returns: False if there is no RTP session yet.
    package func onControlPacket(_ body: @escaping @Sendable ([UInt8]) -> Void) -> Bool {
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
    package func onOwnControlPacket(
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

    /// Lets requests for lost packets go out at once, and reports often. Call it when both descriptions are
    /// set.
    ///
    /// What RTCP may cost is otherwise a share of what one stream of pictures has, which allows a request
    /// every 0.2 to 0.7 s, and the report on every picture's packets uses it up: most packets would come again
    /// too late. Reports on packets are made every 50 ms, which estimates of the bit rate need. Reports on
    /// streams are made every 0.5 s instead of 5: Janus keeps no packets to send again until they have told it
    /// the round trip, and browsers play sound and pictures in step only when they have them.
    ///
    /// Source: RFC 4585, section 3.5.2, and GStreamer's `rtpsession`, which implements it.
    package func reportAtOnce() {
        guard let session = mb_webrtc_session(element.pointer) else { return }
        mb_session_set_feedback(session, 20_000_000, 50_000_000, 500_000_000)
        g_object_unref(session)
    }

    /// Calls `isNew` with the transport-wide number of each packet of the peer, on the thread that receives it;
    /// where it is not new, the packet is taken for one without. Call it when both descriptions are set.
    ///
    /// - Parameter id: The identifier of the number's header extension.
    package func filterNumbers(
        ofExtension id: Int, in pipeline: Pipeline,
        _ isNew: @escaping @Sendable (UInt16) -> Bool
    ) {
        for inner in pipeline.elements where inner.factoryName == "rtpsession" {
            inner.pad("recv_rtp_sink")?.filterNumbers(ofExtension: id, isNew)
        }
    }

    /// Lets corrections of the times, which the sender's reports bring, take effect by and by: 5 ms a packet, less
    /// than any two pictures are apart, so that none is due before the last.
    package func correctTimesSlowly(in pipeline: Pipeline) {
        for inner in pipeline.elements where inner.factoryName == "rtpbin" {
            inner.set("max-ts-offset-adjustment", "5000000")
        }
    }
}
