import GStreamerKit
import MediaBridge
import TestSupport

/// Pictures of a pixel format, and how they are recorded.
struct StoredPicture: Sendable, CustomStringConvertible {
    /// What a format has: bits of a sample, the digits of 4:2:0 and its kin, and transparency.
    struct Format: Sendable {
        let name: String
        var bits = 8
        var chroma = 444
        var hasAlpha = false
        var isRGB = false
    }
    /// Formats without padding bytes, whose frames can be compared byte by byte.
    static let formats = [
        Format(name: "I420", chroma: 420), Format(name: "NV12", chroma: 420),
        Format(name: "YV12", chroma: 420), Format(name: "YUY2", chroma: 422),
        Format(name: "UYVY", chroma: 422), Format(name: "Y42B", chroma: 422),
        Format(name: "Y41B", chroma: 411), Format(name: "Y444"), Format(name: "NV24"),
        Format(name: "AYUV", hasAlpha: true), Format(name: "A420", chroma: 420, hasAlpha: true),
        Format(name: "GRAY8"), Format(name: "GRAY16_LE", bits: 16),
        Format(name: "RGB", isRGB: true), Format(name: "BGRA", hasAlpha: true, isRGB: true),
        Format(name: "ARGB64", bits: 16, hasAlpha: true, isRGB: true),
        Format(name: "GBR_10LE", bits: 10, isRGB: true),
        Format(name: "GBR_12LE", bits: 12, isRGB: true),
        Format(name: "P010_10LE", bits: 10, chroma: 420),
        Format(name: "P012_LE", bits: 12, chroma: 420),
        Format(name: "P016_LE", bits: 16, chroma: 420), Format(name: "v210", bits: 10, chroma: 422),
        Format(name: "I422_12LE", bits: 12, chroma: 422), Format(name: "Y444_10LE", bits: 10),
        Format(name: "Y444_16LE", bits: 16), Format(name: "A444_10LE", bits: 10, hasAlpha: true),
        Format(name: "AYUV64", bits: 16, hasAlpha: true),
    ]
    static let forms: [(VideoCodec, RecordingContainer)] = [
        (.ffv1, .mkv), (.mjpeg, .mkv), (.h264, .mkv), (.h264, .mp4), (.h264, .ts), (.vp8, .webm),
        (.vp9, .webm), (.vp9, .mp4), (.av1, .webm), (.av1, .mp4),
        (.h265, .mkv), (.h265, .mp4), (.h265, .ts),
    ]

    let format: Format
    let codec: VideoCodec
    let container: RecordingContainer

    static func random(_ random: inout SeededGenerator) -> StoredPicture {
        let (codec, container) = forms.randomElement(using: &random)!
        return StoredPicture(
            format: formats.randomElement(using: &random)!, codec: codec, container: container)
    }

    var description: String { "\(format.name) as \(codec).\(container)" }

    /// The caps of the pictures, whose rows have no padding in any of the formats.
    private var caps: String {
        "video/x-raw,format=\(format.name),width=96,height=48,framerate=25/1"
    }

    private var source: String { "videotestsrc num-buffers=2 pattern=smpte ! \(caps)" }

    /// Records two frames.
    ///
    /// - Returns: The loss in the report.
    func record(to path: String) async throws -> String? {
        var configuration = Recorder.Configuration()
        configuration.video = VideoEncoding(codec)
        var plan = BridgePlan(capture: source, outputs: [])
        plan.recordings = [BridgePlan.Recording(path: path, configuration: configuration)]
        let bridge = try Bridge(plan)
        if let failure = await bridge.run().failures.first { throw failure }
        return bridge.recorders.first?.report.video?.converted
    }

    /// Whether the decoded frames of a recording in FFV1 are those of the source, byte by byte.
    func isExact(in path: String) async throws -> Bool {
        let (own, stored) = (path + ".own", path + ".stored")
        try await launch("\(source) ! filesink location=\(own)")
        try await launch(
            "filesrc location=\(path) ! matroskademux ! avdec_ffv1 ! videoconvert dither=none ! \(caps) "
                + "! filesink location=\(stored)")
        return try await Tool.run("cmp", [own, stored]).status == 0
    }

    private func launch(_ text: String) async throws {
        try await Tool.check("gst-launch-1.0", ["-q"] + text.split(separator: " ").map(String.init))
    }

    /// Whether ffmpeg's pixel format keeps less than the source's.
    func isReduced(to stored: String) -> Bool {
        let isRGB = stored.contains("gbr") || stored.contains("bgr")
        let bits =
            [16, 12, 10].first { stored.contains("p\($0)") || stored.contains("gray\($0)") } ?? 8
        let chroma = [420, 422, 411, 410].first { stored.contains("\($0)") } ?? 444
        let hasAlpha = stored.hasPrefix("yuva") || stored.hasPrefix("gbrap") || stored == "bgra"
        let isGray = format.name.hasPrefix("GRAY")
        return bits < format.bits || !isGray && chroma < format.chroma && format.chroma != 411
            || format.chroma == 411 && chroma == 420 || format.hasAlpha && !hasAlpha
            || !isGray && isRGB != format.isRGB
    }
}
