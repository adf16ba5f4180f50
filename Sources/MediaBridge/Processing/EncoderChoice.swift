internal import MediaBasics
internal import Synchronization

extension EncoderChoice {
    /// Creates the choice with a name: `automatic`, `software`, `hardware`, or an encoder's factory name; `nil` for any
    /// other.
    public init?(_ name: String) {
        switch name {
        case "automatic": self = .automatic
        case "software": self = .software
        case "hardware": self = .hardware
        default:
            guard Self.elements.contains(name) else { return nil }
            self = .element(name)
        }
    }

    /// The factory names of all encoders that are known, installed or not.
    public static var elements: [String] { VideoEncoderElement.table.map(\.factoryName) }

    func allows(_ element: VideoEncoderElement) -> Bool {
        switch self {
        case .automatic: true
        case .software: !element.isHardware
        case .hardware: element.isHardware
        case .element(let name): element.factoryName == name
        }
    }
}

// MARK: Encoders of a codec

/// An element that encodes.
protocol EncoderElement: Sendable {
    associatedtype Codec
    /// All of them; those of one codec in the order of preference.
    static var table: [Self] { get }
    var factoryName: String { get }
    var codec: Codec { get }
    /// Whether recordings contain what it makes.
    var isForRecordings: Bool { get }
    /// Whether receivers of live streams decode what it makes.
    var isForNetworks: Bool { get }
    /// Whether it needs a device, which a machine may lack.
    var isHardware: Bool { get }
    /// Whether it can be asked for a bit rate.
    var hasBitRate: Bool { get }
    /// Returns why it does not encode here, in GStreamer's words; `nil` if it does. Requires that it is installed.
    func refusal() -> String?
}

extension EncoderElement {
    var isInstalled: Bool { ((try? ElementFactory.find(factoryName)) ?? nil) != nil }

    /// Returns the first encoder that works, and is installed with the other elements that it needs.
    ///
    /// - Parameters:
    ///   - choices: In the order of preference.
    ///   - purpose: Follows "no encoder" in the error.
    ///   - elements: Returns the factory names of the other elements.
    /// - Throws: ``PipelineError`` with ``PipelineError/Code/missingElement`` if none works; an error of GStreamer if
    ///   it cannot start.
    static func first(
        of choices: [Self], _ purpose: String, needing elements: (Self) -> [String] = { _ in [] }
    ) throws(PipelineError) -> Self {
        var (missing, reasons) = (Set<String>(), [String]())
        for choice in choices {
            var isComplete = true
            for name in [choice.factoryName] + elements(choice) {
                guard try ElementFactory.find(name) == nil else { continue }
                missing.insert(name)
                isComplete = false
            }
            guard isComplete else { continue }
            guard let reason = choice.refusal() else { return choice }
            reasons.append("\(choice.factoryName): \(reason)")
        }
        if reasons.isEmpty, let first = choices.first, choices.count == 1 || !first.isHardware {
            for name in [first.factoryName] + elements(first) { try ElementFactory.require(name) }
        }
        if !missing.isEmpty {
            reasons.append("\(missing.sorted().joined(separator: ", ")): not installed")
        }
        throw PipelineError(
            .missingElement,
            message: "no encoder \(purpose) works here: " + reasons.joined(separator: "; "),
            advice: "gst-bridge doctor, which tries them")
    }
}

/// A codec that may have encoders.
protocol EncodableCodec: TabledCodec {
    associatedtype Encoder: EncoderElement where Encoder.Codec == Self
}

extension VideoCodec: EncodableCodec {
    typealias Encoder = VideoEncoderElement
}

extension AudioCodec: EncodableCodec {
    typealias Encoder = AudioEncoderElement
}

extension EncodableCodec {
    /// The encoders of recordings, the preferred one first.
    var encoders: [Encoder] { Encoder.table.filter { $0.codec == self && $0.isForRecordings } }

    /// The encoders of live streams, the preferred one first.
    private var liveEncoders: [Encoder] {
        Encoder.table.filter { $0.codec == self && $0.isForNetworks }
    }

    /// Returns the codecs that can be encoded for a container.
    static func encoded(in container: RecordingContainer) -> [Self] {
        table.filter { !$0.codec.encoders.isEmpty && $0.forms[container] != nil }.map(\.codec)
    }

    /// The codecs for which an encoder of live streams is installed.
    static var installedForLive: [Self] {
        table.map(\.codec).filter { codec in
            codec.liveEncoders.contains {
                $0.isInstalled && (!$0.isHardware || $0.refusal() == nil)
            }
        }
    }

    /// Returns the first encoder of live streams that works.
    ///
    /// - Parameter allows: Returns whether an encoder may be used.
    /// - Throws: ``PipelineError`` with ``PipelineError/Code/missingElement`` or, if none is known,
    ///   ``PipelineError/Code/badValue``.
    func liveEncoder(
        _ allows: (Encoder) -> Bool = { _ in true }
    ) throws(PipelineError) -> Encoder {
        let choices = liveEncoders.filter(allows)
        let purpose = "for live streams in \(rawValue)"
        guard choices.isEmpty else { return try Encoder.first(of: choices, purpose) }
        let known = liveEncoders.map(\.factoryName)
        throw PipelineError(
            .badValue,
            message: "no encoder \(purpose) is known"
                + (known.isEmpty ? "" : " that was not excluded"),
            advice: known.isEmpty
                ? Self.table.map(\.codec).filter { !$0.liveEncoders.isEmpty }.map(\.rawValue)
                    .joined(separator: " or ") : known.joined(separator: ", "))
    }
}

extension RecordingContainer {
    /// The video codecs that the container supports, the preferred one first.
    public var videoCodecs: [VideoCodec] { VideoCodec.encoded(in: self) }

    /// The audio codecs that the container supports, the preferred one first.
    public var audioCodecs: [AudioCodec] { AudioCodec.encoded(in: self) }
}

// MARK: Trials

extension VideoEncoderElement {
    /// The factory names of the encoders that have encoded a picture.
    private static let working = Mutex<Set<String>>([])

    /// Encodes a picture, unless it has done so in this process: an encoder of hardware may be installed without a
    /// device that can encode, or while all of its sessions are in use.
    func refusal() -> String? {
        guard !Self.working.withLock({ $0.contains(factoryName) }) else { return nil }
        let refusal = encodeOnePicture()
        if refusal == nil { _ = Self.working.withLock { $0.insert(factoryName) } }
        return refusal
    }

    private func encodeOnePicture() -> String? {
        // The library of a device may take seconds to load. Software is only slow on a busy machine, and never refused
        // for that.
        let deadline = Duration.seconds(isHardware ? 15 : 120).asDefaultDeadline
        let size = "width=320,height=240,framerate=30/1"
        let setup = VideoEncoderSetup(
            bitRate: 1_000_000, frameRate: 30, keyFrameInterval: MediaTime(seconds: 1))
        do throws(PipelineError) {
            let picture = picture(
                VideoInfo(try Caps("video/x-raw,format=I420,\(size)")), .upright)
            let pipeline = try Pipeline(
                parsing:
                    "videotestsrc num-buffers=1 ! video/x-raw,format=I420,\(size) ! \(picture) "
                    + "! \(text(setup)) ! fakesink name=units sync=false")
            let ended = MonotonicSignal()
            let failure = Mutex<PipelineError?>(nil)
            pipeline.onMessage { message in
                switch message {
                case .endOfStream: ended.signal()
                case .error(let error):
                    failure.withLock { $0 = $0 ?? error }
                    ended.signal()
                default: break
                }
            }
            defer { _ = try? pipeline.setStateAndWait(.null, deadline: deadline) }
            try pipeline.setStateAndWait(.playing, deadline: deadline)
            let isInTime = ended.wait(for: deadline)
            if let failure = failure.withLock({ $0 }) { throw failure }
            guard isInTime else { return "it did not encode a picture within \(deadline)" }
            let units = pipeline.element(named: "units")?.sinkStatistics?.rendered ?? 0
            return units > 0 ? nil : "it made nothing of a picture"
        } catch {
            return error.message
        }
    }
}
