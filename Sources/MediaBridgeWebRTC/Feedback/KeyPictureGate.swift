internal import GStreamerKit

/// Keeps what cannot be decoded rightly after a loss from a decoder of H.264.
///
/// rtph264depay (GStreamer 1.22, `wait-for-keyframe`) takes a key picture of which packets are missing for a whole
/// one, and lets the pictures after it through: 30 to 50 of 900 pictures were wrong where 1 to 10 % of the packets
/// were lost. After a loss this lets packets through only from the beginning of a key picture on.
/// Source: RFC 6184, sections 5.6 to 5.8.
struct KeyPictureGate {
    private var last: UInt16?
    private var needsBeginning = true
    /// Whether a key frame was asked for since the loss.
    private var hasAsked = false
    /// What the depayloader holds of a picture of which packets are missing.
    private var part: Picture?
    /// Whether the key picture that arrives is to push a part of another one out of the depayloader, which may give
    /// that as a picture of its own, or may not: neither is used.
    private var isFlushing = false
    /// The picture that is arriving; `nil` after its last packet.
    private var picture: Picture?

    private struct Picture {
        var timestamp: UInt32
        var isKey = false
        /// Whether one of its slices is complete.
        var hasSlice = false
    }

    /// What is done with a packet.
    enum Verdict { case pass, drop, dropAndAskForKeyFrame }

    /// Judges the next packet, in the order of numbers.
    mutating func judge(_ packet: PacketOutline) -> Verdict {
        if let last {
            let step = Int16(bitPattern: packet.number &- last)
            // One that comes twice or late is the depayloader's business.
            guard step > 0 else { return .pass }
            if step > 1 { lose() }
        }
        last = packet.number
        if isFlushing, picture?.timestamp != packet.timestamp {
            (isFlushing, needsBeginning, hasAsked) = (false, true, false)
        }
        if needsBeginning {
            guard Self.beginsKeyPicture(packet.payload) else {
                defer { hasAsked = true }
                return hasAsked ? .drop : .dropAndAskForKeyFrame
            }
            (needsBeginning, hasAsked) = (false, false)
            if part?.isKey == true { (part, isFlushing) = (nil, true) }
        }
        note(packet)
        return .pass
    }

    /// Whether the next picture of the depayloader is whole.
    mutating func admitsPicture(isKey: Bool) -> Bool {
        if isFlushing { return false }
        // A part that is no key picture comes at the end of the stream only.
        return (part.take() == nil) || isKey
    }

    private mutating func lose() {
        if let picture, picture.hasSlice { part = picture }
        (picture, needsBeginning, hasAsked, isFlushing) = (nil, true, false, false)
    }

    private mutating func note(_ packet: PacketOutline) {
        var present = picture ?? Picture(timestamp: packet.timestamp)
        if present.timestamp != packet.timestamp { present = Picture(timestamp: packet.timestamp) }
        for unit in Self.units(of: packet.payload) {
            if [5, 7, 8].contains(unit.type) { present.isKey = true }
            if (1...5).contains(unit.type), unit.isEnd { present.hasSlice = true }
        }
        picture = packet.isMarked ? nil : present
    }

    // MARK: Payloads

    private struct Unit {
        var type: UInt8
        /// Whether its first and its last byte are in the packet.
        var isBeginning: Bool, isEnd: Bool
        /// The byte behind its header; `nil` if it is not there.
        var next: UInt8?
    }

    /// Whether the packet has the first bytes of a key picture: a parameter set, or the first of its slices.
    private static func beginsKeyPicture(_ payload: [UInt8]) -> Bool {
        units(of: payload).contains { unit in
            // A slice that begins with macroblock 0 has a one as its first bit.
            unit.type == 7 || unit.type == 5 && unit.isBeginning && (unit.next ?? 0) & 0x80 != 0
        }
    }

    private static func units(of payload: [UInt8]) -> [Unit] {
        guard let first = payload.first else { return [] }
        switch first & 0x1f {
        case 24:
            var units: [Unit] = []
            var at = 1
            while at + 2 < payload.count {
                let size = Int(payload[at]) << 8 | Int(payload[at + 1])
                let next = at + 3 < payload.count ? payload[at + 3] : nil
                units.append(
                    Unit(type: payload[at + 2] & 0x1f, isBeginning: true, isEnd: true, next: next))
                at += 2 + max(1, size)
            }
            return units
        case 28, 29:
            guard payload.count > 1 else { return [] }
            let header = payload[1]
            return [
                Unit(
                    type: header & 0x1f, isBeginning: header & 0x80 != 0,
                    isEnd: header & 0x40 != 0, next: payload.count > 2 ? payload[2] : nil)
            ]
        case let type:
            return [
                Unit(
                    type: type, isBeginning: true, isEnd: true,
                    next: payload.count > 1 ? payload[1] : nil)
            ]
        }
    }
}
