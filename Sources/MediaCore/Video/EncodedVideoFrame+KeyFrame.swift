/// What a unit's bytes say of the units before it.
package enum EncodedVideoFrameReferences: Sendable {
    /// It builds on none: decoding may begin here.
    case none
    /// No picture, but what others need: parameter sets alone.
    case noPicture
    /// It builds on the units before it, or that is not to be seen.
    case unitsBefore
}

extension EncodedVideoFrame {
    /// Whether decoding may begin with this unit: a key frame.
    ///
    /// Of H.264 that is an IDR picture, one that brings its parameter sets along, or one that is marked as
    /// a recovery point; every JPEG picture is.
    public var isKeyFrame: Bool { references == .none }

    /// Reads the unit's headers alone.
    package var references: EncodedVideoFrameReferences {
        bytes.withUnsafeBytes { bytes in
            switch codec {
            case .h264: Self.h264References(bytes)
            // The frame tag's first bit is clear in a key frame.
            case .vp8: bytes.first.map { $0 & 1 == 0 } == true ? .none : .unitsBefore
            case .mjpeg: .none
            }
        }
    }

    private static func h264References(
        _ bytes: UnsafeRawBufferPointer
    ) -> EncodedVideoFrameReferences {
        var (hasParameters, hasSlice, isRecoveryPoint) = (false, false, false)
        var (at, zeros) = (0, 0)
        while at < bytes.count {
            defer { at += 1 }
            if bytes[at] == 0 {
                zeros += 1
                continue
            }
            let isStart = zeros >= 2 && bytes[at] == 1 && at + 1 < bytes.count
            zeros = 0
            guard isStart else { continue }
            switch bytes[at + 1] & 0x1f {
            case 5: return .none
            case 7: hasParameters = true
            // Supplemental information whose first message is of type 6.
            case 6 where at + 2 < bytes.count && bytes[at + 2] == 6: isRecoveryPoint = true
            // Behind the first slice come others of the same picture.
            case 1, 2:
                hasSlice = true
                at = bytes.count
            default: break
            }
        }
        guard hasSlice else { return hasParameters ? .noPicture : .unitsBefore }
        return hasParameters || isRecoveryPoint ? .none : .unitsBefore
    }
}
