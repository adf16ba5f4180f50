/// Which other units an encoded unit refers to, according to its bytes.
package enum EncodedVideoFrameReferences: Sendable {
    /// None: decoding may begin with this unit.
    case none
    /// The unit contains no picture, only parameter sets that others need.
    case noPicture
    /// Earlier units, or the bytes do not say.
    case unitsBefore
}

extension EncodedVideoFrame {
    /// Whether decoding may begin with this unit, as with a key frame.
    ///
    /// For H.264 this is an IDR picture, a picture that comes with its parameter sets, or one
    /// marked as a recovery point. Every JPEG picture is a key frame.
    public var isKeyFrame: Bool { references == .none }

    /// Which units this one refers to. Only its headers are parsed.
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
            // An SEI unit whose first message is a recovery point (type 6).
            case 6 where at + 2 < bytes.count && bytes[at + 2] == 6: isRecoveryPoint = true
            // After the first slice only other slices of the same picture follow.
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
