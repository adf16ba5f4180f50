import Foundation
import MediaBridge
import TestSupport

/// A generated case of encoded media that is recorded without re-encoding: its encoder, its path,
/// and its target container.
struct CopiedMedia: Sendable, CustomStringConvertible {
    enum Codec: String, CaseIterable { case h264, h265, vp8, vp9 }

    var codec = Codec.h264
    /// The number of consecutive B-frames.
    var reordered = 0
    var bits = 8
    var container = "mkv"
    var isLive = false
    /// Whether the units were RTP packets, which have no decoding times.
    var overRTP = false
    /// The value of the tag `image-orientation`.
    var orientation: String?
    /// How much later the video begins than the audio, in tenths of a second; `nil` without audio.
    var lateness: Int?
    static let frames = 24
    static let rate = 20.0

    /// A random case with a codec and properties that the container accepts.
    static func random(_ random: inout SeededGenerator) -> CopiedMedia {
        var media = CopiedMedia()
        media.container = ["mkv", "mp4", "mov", "ts", "webm"].randomElement(using: &random)!
        let codecs: [Codec] =
            switch media.container {
            case "webm": [.vp8, .vp9]
            case "mkv": Codec.allCases
            default: [.h264, .h265]
            }
        media.codec = codecs.randomElement(using: &random)!
        if [.h264, .h265].contains(media.codec) {
            media.reordered = [0, 1, 2, 3].randomElement(using: &random)!
            media.bits = [8, 8, 10].randomElement(using: &random)!
        }
        media.isLive = Int.random(in: 0..<4, using: &random) == 0
        media.overRTP = Bool.random(using: &random)
        if Bool.random(using: &random) {
            media.orientation =
                ["rotate-90", "rotate-180", "rotate-270", "flip-rotate-0", "flip-rotate-180"]
                .randomElement(using: &random)!
        }
        if Bool.random(using: &random) {
            media.lateness = media.isLive ? 0 : [-15, -3, 0, 3, 15].randomElement(using: &random)!
        }
        return media
    }

    var description: String {
        "\(codec) bframes=\(reordered) \(bits) bit .\(container)" + (isLive ? " live" : "")
            + (overRTP ? " RTP" : "") + (orientation.map { " \($0)" } ?? "")
            + (lateness.map { " pictures \($0)00 ms after the sound" } ?? "")
    }

    /// The encoder. Its decisions depend only on the current frame, because look-ahead differs from
    /// run to run.
    private var encoder: String {
        let size = "key-int-max=10"
        // Payloaders negotiate a profile without B-frames if they can choose.
        let profile = "video/x-h264,profile=\(bits == 10 ? "high-10" : "high") ! "
        return switch codec {
        case .h264:
            "x264enc \(size) threads=1 pass=quant quantizer=25 bframes=\(reordered) b-adapt=false mb-tree=false "
                + "option-string=scenecut=0:weightp=0:aq-mode=0 ! \(profile)h264parse"
        case .h265:
            "x265enc \(size) qp=25 option-string=bframes=\(reordered):b-adapt=0:scenecut=0:weightp=0:"
                + "aq-mode=0:cutree=0:pools=1:frame-threads=1:log-level=none ! h265parse"
        // A positive speed is adapted to the load of the machine.
        case .vp8: "vp8enc deadline=1 cpu-used=-8 keyframe-max-dist=10"
        case .vp9: "vp9enc deadline=1 cpu-used=4 lag-in-frames=0 keyframe-max-dist=10 ! vp9parse"
        }
    }

    /// The start of the video, in seconds.
    var pictureStart: Double { Double(max(0, lateness ?? 0)) / 10 }

    private func pictures(_ tail: String) -> String {
        let format = bits == 10 ? "I420_10LE" : "I420"
        let start = Int((pictureStart * 1e9).rounded())
        return
            "videotestsrc pattern=ball num-buffers=\(Self.frames) is-live=\(isLive) timestamp-offset=\(start) "
            + "! video/x-raw,format=\(format),width=64,height=48,framerate=\(Int(Self.rate))/1 "
            + "! \(encoder) ! \(tail)"
    }

    /// A pipeline that stores the encoded video unchanged.
    func original(at path: String) -> String {
        let format =
            [.h264, .h265].contains(codec) ? "video/x-\(codec),stream-format=byte-stream ! " : ""
        return pictures(
            format.isEmpty
                ? "matroskamux ! filesink location=\(path)" : "\(format)filesink location=\(path)")
    }

    /// The capture.
    var capture: String {
        let packets = overRTP ? "rtp\(codec)pay ! rtp\(codec)depay ! \(Self.parser(codec))" : ""
        let tag = orientation.map { "taginject tags=image-orientation=\($0) ! " } ?? ""
        var text = pictures("\(packets)\(tag)appsink name=video")
        guard let lateness else { return text }
        let start = max(0, -lateness) * 100_000_000
        let encoder = ["mp4", "mov", "ts"].contains(container) ? "avenc_aac ! aacparse" : "opusenc"
        text +=
            " audiotestsrc num-buffers=40 samplesperbuffer=960 is-live=\(isLive) "
            + "timestamp-offset=\(start) ! audio/x-raw,rate=48000,channels=1 ! \(encoder) "
            + "! appsink name=audio"
        return text
    }

    private static func parser(_ codec: Codec) -> String {
        [.h264, .h265, .vp9].contains(codec) ? "\(codec)parse ! " : ""
    }

    /// How much later the first frame is presented than decoded, in seconds. At most two frames are
    /// held back.
    var lead: Double { reordered > 0 ? 2 / Self.rate : 0 }

    /// The end of the later stream; the audio lasts 0.8 s.
    var duration: Double {
        let pictures = pictureStart + Double(Self.frames) / Self.rate
        guard let lateness else { return pictures }
        return max(pictures, Double(max(0, -lateness)) / 10 + 0.8)
    }
}

/// The packets of a file's video, as reported by ffprobe.
struct StoredPictures {
    /// In storage order, in seconds.
    var decoding: [Double?] = []
    var shown: [Double?] = []

    init(of path: String) async throws {
        let lines = try await Tool.check(
            "ffprobe",
            [
                "-v", "error", "-select_streams", "v:0", "-show_entries",
                "packet=pts_time,dts_time", "-of", "compact=nk=0:p=0", path,
            ])
        for line in lines.split(separator: "\n") {
            var values: [Substring: Double] = [:]
            for field in line.split(separator: "|") {
                let pair = field.split(separator: "=")
                if pair.count == 2, let value = Double(pair[1]) { values[pair[0]] = value }
            }
            decoding.append(values["dts_time"])
            shown.append(values["pts_time"])
        }
    }
}

/// The metadata of a file, as reported by gst-discoverer-1.0.
struct AnnouncedFile {
    /// In seconds; `nil` if unknown.
    var duration: Double?
    /// The tag `image-orientation`; `nil` for upright pictures.
    var orientation: String?

    init(_ path: String) async throws {
        let text = try await Tool.check("gst-discoverer-1.0", ["-v", path])
        if let match = text.firstMatch(of: /Duration: (\d+):(\d\d):(\d\d\.\d+)/),
            let hours = Double(match.1), let minutes = Double(match.2),
            let seconds = Double(match.3)
        {
            duration = hours * 3600 + minutes * 60 + seconds
        }
        orientation = text.firstMatch(of: /image orientation: (\S+)/).map { String($0.1) }
        if orientation == "rotate-0" { orientation = nil }
    }
}
