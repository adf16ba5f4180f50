internal import Synchronization

/// Which other units an encoded unit refers to.
package enum EncodedVideoFrameReferences: UInt8, Sendable {
    /// None: decoding may begin with this unit.
    case none = 1
    /// The unit contains no picture, only parameter sets that others need.
    case noPicture
    /// Earlier units, or the references are unknown.
    case unitsBefore
}

/// The result of parsing a unit's headers, once they have been parsed.
final class ParsedReferences: Sendable {
    private let stored = Atomic<UInt8>(0)

    /// Returns the result. Threads that ask at the same time may each parse.
    func value(
        parsing parse: () -> EncodedVideoFrameReferences
    ) -> EncodedVideoFrameReferences {
        if let known = EncodedVideoFrameReferences(rawValue: stored.load(ordering: .relaxed)) {
            return known
        }
        let value = parse()
        stored.store(value.rawValue, ordering: .relaxed)
        return value
    }
}

extension EncodedVideoFrame {
    /// Whether decoding may begin with this unit.
    ///
    /// A unit of a pipeline is marked accordingly. Otherwise its bytes are parsed: for H.264 an IDR
    /// picture, a picture that comes with its parameter sets, or one marked as a recovery point;
    /// for H.265 a random access picture; for VP8 and VP9 a key frame; for AV1 a unit with a
    /// sequence header. Every JPEG picture is a key frame. The bytes of other codecs are not
    /// parsed, and every unit counts as a key frame.
    public var isKeyFrame: Bool { references == .none }

    /// Which units this one refers to. Its headers are parsed once for all copies of the frame.
    package var references: EncodedVideoFrameReferences {
        if storage.isKeyFrame == true { return .none }
        let parsed = parsed.value {
            (try? withUnsafeBytes { parsedReferences($0) }) ?? .unitsBefore
        }
        return storage.isKeyFrame == false && parsed == .none ? .unitsBefore : parsed
    }

    private func parsedReferences(
        _ bytes: UnsafeRawBufferPointer
    ) -> EncodedVideoFrameReferences {
        switch codec {
        case .h264:
            Self.h264References(bytes, NetworkUnits(bytes, of: codec, codecData: codecData))
        case .h265:
            Self.h265References(bytes, NetworkUnits(bytes, of: codec, codecData: codecData))
        // The frame tag's first bit is clear in a key frame.
        case .vp8: bytes.first.map { $0 & 1 == 0 } == true ? .none : .unitsBefore
        case .vp9: Self.vp9References(bytes)
        case .av1: Self.av1References(bytes)
        default: .none
        }
    }

    private static func h264References(
        _ bytes: UnsafeRawBufferPointer, _ units: NetworkUnits
    ) -> EncodedVideoFrameReferences {
        var (hasParameters, isRecoveryPoint) = (false, false)
        for header in units {
            switch bytes[header] & 0x1f {
            case 5: return .none
            case 7: hasParameters = true
            // An SEI unit whose first message is a recovery point (type 6).
            case 6 where header + 1 < bytes.count && bytes[header + 1] == 6: isRecoveryPoint = true
            // After the first slice only other slices of the same picture follow.
            case 1, 2: return hasParameters || isRecoveryPoint ? .none : .unitsBefore
            default: break
            }
        }
        return hasParameters ? .noPicture : .unitsBefore
    }

    private static func h265References(
        _ bytes: UnsafeRawBufferPointer, _ units: NetworkUnits
    ) -> EncodedVideoFrameReferences {
        var hasParameters = false
        for header in units {
            switch bytes[header] >> 1 & 0x3f {
            // BLA, IDR and CRA pictures.
            case 16...21: return .none
            case 0...15: return .unitsBefore
            case 32...34: hasParameters = true
            default: break
            }
        }
        return hasParameters ? .noPicture : .unitsBefore
    }

    /// Reads the uncompressed header of the first frame (VP9 bitstream specification, 6.2).
    private static func vp9References(
        _ bytes: UnsafeRawBufferPointer
    ) -> EncodedVideoFrameReferences {
        guard let first = bytes.first, first >> 6 == 2 else { return .unitsBefore }
        // Profile 3 has a reserved bit behind its own two.
        let isLongest = first >> 4 & 3 == 3
        let (showsExisting, isInter) =
            isLongest ? (first >> 2 & 1, first >> 1 & 1) : (first >> 3 & 1, first >> 2 & 1)
        return showsExisting == 0 && isInter == 0 ? .none : .unitsBefore
    }

    /// A unit with a sequence header is taken for a key unit.
    private static func av1References(
        _ bytes: UnsafeRawBufferPointer
    ) -> EncodedVideoFrameReferences {
        OpenBitstreamUnits(bytes).contains(.sequenceHeader) ? .none : .unitsBefore
    }
}
