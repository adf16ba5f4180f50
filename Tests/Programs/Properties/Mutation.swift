/// One change to a capture in mid-stream, written `size@12=96x64`.
struct Mutation: Hashable, Sendable, CustomStringConvertible {
    enum Kind: String, CaseIterable, Sendable {
        // Applies from a frame on.
        case rate, size, format, colour, chroma, par, interlace, turn, durationless, jitter
        /// Missing seconds of video, audio, or both; and jumps of the timestamps.
        case gap, jump, soundGap, soundJump, clock
        // Applies to a single frame.
        case late, early, swap, same, untimed
        // Applies to the audio from there on.
        case soundRate, soundChannels, soundFormat, soundPlanar, soundBlock, soundJitter
        // Applies to a single piece of audio.
        case soundOverlap, soundLate, soundUntimed
        // Sets where the streams start and end.
        case soundBegins, soundEnds, picturesBegin, picturesEnd
    }
    var kind: Kind
    /// The number of the frame, or of the two pieces of audio beside it.
    var at: Int
    var value: String

    /// The value as seconds, or as any other number.
    var number: Double { Double(value) ?? 0 }
    var description: String { "\(kind.rawValue)@\(at)=\(value)" }

    init(_ kind: Kind, at: Int, _ value: String) {
        self.kind = kind
        self.at = at
        self.value = value
    }

    init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "=", maxSplits: 1)
        let name = parts.first?.split(separator: "@") ?? []
        guard parts.count == 2, name.count == 2, let kind = Kind(rawValue: String(name[0])),
            let at = Int(name[1])
        else { return nil }
        self.init(kind, at: at, String(parts[1]))
    }
}

extension Mutation.Kind {
    /// The values that it may have.
    var values: [String] {
        switch self {
        case .rate: ["50/1", "15/1", "30000/1001", "12/1", "0/1", "90000/1"]
        case .size: ["96x64", "32x32", "63x47", "64x96", "128x16"]
        case .format: ["NV12", "BGRA", "YUY2", "GRAY8", "I420_10LE", "RGB", "Y444"]
        case .colour: ["bt709", "bt601", "bt2020", "smpte240m", "1:4:0:0"]
        case .chroma: ["jpeg", "mpeg2", "dv", "cosited"]
        case .par: ["4/3", "16/11", "1/2"]
        case .interlace: ["interleaved", "mixed"]
        case .turn: ["90", "180", "270"]
        case .durationless, .soundPlanar, .untimed, .soundUntimed, .swap, .same: ["yes"]
        case .jitter: ["0.015"]
        case .soundJitter: ["0.001"]
        case .gap, .soundGap: ["0.3", "1.5", "4"]
        case .clock: ["0.3", "4", "30", "3000", "-30", "-3000"]
        case .jump: ["30", "600", "-30", "-600"]
        case .soundJump: ["15", "300", "-15", "-300"]
        case .late, .early: ["0.05", "0.5", "1.5"]
        case .soundRate: ["44100", "16000", "96000", "8000"]
        case .soundChannels: ["2", "6", "3"]
        case .soundFormat: ["F32LE", "S32LE", "U8", "S24LE"]
        case .soundBlock: ["64", "1024", "4800"]
        case .soundOverlap, .soundLate: ["0.012", "0.1", "0.5"]
        case .soundBegins, .picturesBegin: ["0.3", "1.5", "3", "11"]
        case .soundEnds, .picturesEnd: ["0.4"]
        }
    }

    /// Whether the mutation has an effect only on captures with audio.
    var needsSound: Bool {
        switch self {
        case .soundGap, .soundJump, .soundRate, .soundChannels, .soundFormat, .soundPlanar,
            .soundBlock, .soundJitter, .soundOverlap, .soundLate, .soundUntimed, .soundBegins,
            .soundEnds, .picturesBegin, .picturesEnd:
            true
        default: false
        }
    }

    /// Whether a capture string can express it.
    var isForStrings: Bool {
        switch self {
        case .rate, .size, .format, .colour, .chroma, .par, .interlace, .gap, .soundGap, .clock,
            .soundRate, .soundChannels, .soundFormat, .soundBlock, .soundBegins, .soundEnds,
            .picturesBegin, .picturesEnd:
            true
        default: false
        }
    }

    /// Whether pushed frames can express it: this library's own frames carry no interlacing and no
    /// chroma siting.
    var isForPushes: Bool { self != .chroma && self != .interlace }
}
