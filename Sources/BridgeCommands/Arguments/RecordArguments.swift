package import ArgumentParser
package import MediaBridge

/// The argument for a container that can be written without seeking.
enum StreamedContainer: String, ExpressibleByArgument, CaseIterable {
    case mkv, ts
}

/// The argument for the size of pictures: `1280x720`.
struct PictureSize: ExpressibleByArgument, Sendable {
    let size: VideoSize

    init?(argument: String) {
        guard let (width, height) = argument.dimensions else { return nil }
        size = VideoSize(width: width, height: height)
        guard size.isValid else { return nil }
    }
}

extension String {
    /// The numbers around the `x` of a text such as `1280x720`; `nil` for any other.
    var dimensions: (Int, Int)? {
        let numbers = lowercased().split(separator: "x", omittingEmptySubsequences: false)
            .map { Int($0) }
        guard numbers.count == 2, let first = numbers[0], let second = numbers[1] else {
            return nil
        }
        return (first, second)
    }
}

/// The argument for a codec: a codec, `copy`, `auto` or `none`.
enum Choice<Codec: RecordedCodec>: ExpressibleByArgument, Sendable {
    case automatic
    case none
    case copy
    case codec(Codec)

    /// What a shell completes.
    static var values: [String] { Codec.recorded.map(\.rawValue) + ["copy", "none"] }

    init?(argument: String) {
        switch argument.lowercased() {
        case "none": self = .none
        case "auto": self = .automatic
        case "copy": self = .copy
        case let name:
            guard let codec = Codec.recorded.first(where: { $0.rawValue == name }) else {
                return nil
            }
            self = .codec(codec)
        }
    }

    var isEncoded: Bool {
        switch self {
        case .none, .copy: false
        case .automatic, .codec: true
        }
    }
}

/// A codec with which a recording can be encoded.
protocol RecordedCodec: RawRepresentable<String>, Sendable {
    /// The codecs of Matroska, which takes all of them.
    static var recorded: [Self] { get }
}

extension RecordedCodec {
    static var names: String { recorded.map(\.rawValue).joined(separator: ", ") }
}

extension VideoCodec: RecordedCodec {
    static var recorded: [VideoCodec] {
        let matroska = RecordingContainer.mkv.videoCodecs
        return matroska
            + RecordingContainer.mov.videoCodecs.filter { !matroska.contains($0) }
    }
}

extension AudioCodec: RecordedCodec {
    static var recorded: [AudioCodec] { RecordingContainer.mkv.audioCodecs }
}

/// The argument for what pictures lose: `low`.
struct QualityArgument: ExpressibleByArgument {
    let value: VideoQuality

    init?(argument: String) {
        guard let value = VideoQuality(rawValue: argument) else { return nil }
        self.value = value
    }

    static var allValueStrings: [String] { VideoQuality.allCases.map(\.rawValue) }
}

/// The argument for an encoder of pictures: `hardware`, `vah264enc`.
package struct EncoderArgument: ExpressibleByArgument, Sendable {
    package let choice: EncoderChoice

    package init?(argument: String) {
        guard let choice = EncoderChoice(argument) else { return nil }
        self.choice = choice
    }

    package static let help = ArgumentHelp(
        """
        Video encoder: software, hardware, or an element (e.g. vah264enc). Default: the first that encodes a \
        picture here, software first.
        """,
        valueName: "encoder")

    package static var allValueStrings: [String] {
        ["software", "hardware"] + EncoderChoice.elements
    }
}
