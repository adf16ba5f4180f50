/// Describes what a ``Bridge`` connects: captures, steps in between, outputs.
///
/// ```swift
/// var plan = BridgePlan(capture: "v4l2src ! videoconvert", outputs: ["autovideosink"])
/// plan.processors = [VideoFilter.grayscale]
/// plan.recordings = [BridgePlan.Recording(path: "camera.mkv")]
/// let report = try await Bridge(plan).run(stopOn: .interrupt).get()  // or throws what failed
/// ```
public struct BridgePlan: Sendable {
    /// A gst-launch string and its name in reports.
    public struct Named: Sendable {
        /// The name in reports.
        public var name: String
        /// The gst-launch string.
        public var text: String
        /// Where the string comes from, for errors; `nil` if it comes from no file.
        package var origin: Origin?

        /// Creates a named string.
        public init(name: String, text: String) { self.init(name: name, text: text, origin: nil) }

        /// Creates a named string of a pipeline file.
        package init(name: String, text: String, origin: Origin?) {
            self.name = name
            self.text = text
            self.origin = origin
        }
    }

    /// A line of a pipeline file.
    package struct Origin: Hashable, Sendable {
        /// The path of the pipeline file.
        package var file: String
        /// The line of the string's first word, counted from one.
        package var line: Int
        /// The text of the string in the file, before variables are replaced.
        package var text: String
    }

    /// The capture strings. The streams have the names of their appsinks. A string without an
    /// appsink has one stream, named after the capture, or named `audio` if the capture has the
    /// default name and the string delivers only audio.
    public var captures: [Named]

    /// The output strings. Each takes the streams whose names its appsrcs have; one without an
    /// appsrc takes the only stream, or `video` or `audio` by the media of its open ends. A
    /// reference to an element of a capture (`t. ! queue ! …`) stands for the only stream.
    public var outputs: [Named]

    /// A file that the streams are recorded into, crash-safe, by a ``Recorder``.
    public struct Recording: Sendable {
        /// The name in reports, among the outputs: each has a different one. Default `recording`.
        public var name: String
        /// The path of the file to record into.
        public var path: String
        /// The configuration of the recorder. ``Recorder/Configuration/audio`` is for a stream
        /// `audio`; without such a stream no audio is recorded, and a configuration that names an
        /// audio codec is an error.
        public var configuration: Recorder.Configuration
        /// Whether the recording begins with the bridge. If false, the program starts it
        /// (``Bridge/recorders``), or only saves replays. Default true.
        public var startsWithBridge = true
        /// Records only while detectors of the plan find something, each time into another file; `nil`, the
        /// default: all the time. A run without an event has no file, which is not a failure.
        public var events: RecordedEvents?

        /// Creates a recording into a file.
        ///
        /// - Parameters:
        ///   - name: The name in reports.
        ///   - path: The path of the file.
        ///   - configuration: The configuration of the recorder.
        ///   - audio: How audio is encoded; `nil`: as in `configuration`.
        ///   - events: Which part of the media is recorded around events; `nil`: all of it.
        public init(
            name: String = "recording", path: String,
            configuration: Recorder.Configuration = Recorder.Configuration(),
            audio: AudioEncoding? = nil, events: RecordedEvents? = nil
        ) {
            self.name = name
            self.path = path
            self.configuration = configuration
            self.events = events
            if let audio { self.configuration.audio = audio }
        }
    }

    /// Files to record into, beside the outputs.
    public var recordings: [Recording] = []

    /// Other destinations, beside the outputs.
    package var destinations: [Destination] = []

    /// The feeds that fill the appsrcs of captures, by the names of the captures.
    package var feeds: [String: any CaptureFeed] = [:]

    /// The processors of the frames of every video stream, called in this order. Encoded video is decoded
    /// for them.
    public var processors: [any VideoProcessor & Sendable] = []

    /// The processors of single video streams, by the names of the streams. They are called after
    /// ``processors``. Default: none.
    public var streamProcessors: [String: [any VideoProcessor & Sendable]] = [:]

    /// The processors of the frames of every audio stream, called in this order on the thread that
    /// delivers the frame. Encoded audio is decoded for them. A frame that a processor drops is counted as
    /// ``DropCause/processor``; an error that it throws ends the bridge, with the files complete. Default:
    /// none.
    public var audioProcessors: [any AudioProcessor & Sendable] = []

    /// The detectors that look at streams, beside the outputs: see ``BridgeEvent/detected(_:)`` and
    /// ``BridgeReport/events``. They see what ``processors`` pass on. Default: none.
    public var detectors: [StreamDetector] = []

    /// Ends the bridge after this number of frames of one video stream; `nil`: no limit. Of the
    /// streams that bring frames, the first one of ``captures`` counts. The other streams of files go on
    /// to the end of its last frame.
    public var frameLimit: Int?

    /// Ends the bridge after this much media time; `nil`: no limit. Every stream of a file goes on
    /// to that time.
    public var durationLimit: Duration?

    /// Names of streams that a capture may lack: without one of them, the run does not fail. A question
    /// mark behind the name of an appsink (`appsink name=audio?`) or of a capture adds the name. Default:
    /// none.
    public var optionalStreams: Set<String> = []

    /// When to restart a live capture that has ended, failed, or delivered nothing for ten seconds, and any other
    /// capture that has ended or failed and reads from a connection without a known end; `nil`, the default: never.
    /// After a restart its streams continue on the clock, so outputs and
    /// recordings have a gap. A capture of several streams is restarted once all of them have
    /// ended; until then outputs wait for the one that ended first.
    ///
    /// A device or a server that does not answer yet is waited for. Any other error of a capture that
    /// has not delivered anything ends the run. A capture that writes files itself is not restarted.
    public var restart: RestartPolicy?

    /// The configuration of every capture of the plan.
    public var captureConfiguration = PipelineVideoSource.Configuration()
    /// The configuration of every output of the plan.
    public var outputConfiguration = PipelineSink.Configuration()

    /// How much may wait in front of an output, by the names of outputs; all others have the limit of
    /// ``outputConfiguration``. Default: none.
    public var queues: [String: QueueLimit] = [:]

    /// What every string of the plan may do, if their author is not trusted; `nil`: anything.
    public var untrusted: UntrustedPolicy? {
        get { captureConfiguration.untrusted }
        set {
            captureConfiguration.untrusted = newValue
            outputConfiguration.untrusted = newValue
        }
    }

    /// Directories with plugins of GStreamer (`libgst*.so`), which the bridge loads first. Refused with
    /// ``untrusted``. Default: none.
    public var plugins: [String] = []

    /// Creates a plan without recordings, processors and limits.
    public init(captures: [Named], outputs: [Named] = []) {
        self.captures = captures
        self.outputs = outputs
    }

    /// Creates a plan with one capture, and with outputs named `output`, `output-2`, `output-3` ….
    public init(capture: String, outputs: [String] = []) {
        self.init(captures: [Named(name: Self.defaultCapture, text: capture)])
        self.outputs = outputs.enumerated().map { index, text in
            Named(name: Self.outputName(index), text: text)
        }
    }

    /// The captures and outputs that are WHEP or WHIP addresses, not strings.
    package var addresses: [String] {
        captures.map(\.text).filter { Self.isAddress($0, scheme: "whep") }
            + outputs.map(\.text).filter { Self.isAddress($0, scheme: "whip") }
    }

    package static func isAddress(_ text: String, scheme: String) -> Bool {
        text.drop { $0 == "\"" || $0 == " " || $0.isNewline }.hasPrefix("\(scheme):")
    }

    /// The default name of a capture.
    package static let defaultCapture = BridgedText.defaultBranch

    /// Returns the default name of the output at `index`, counted from zero.
    package static func outputName(_ index: Int) -> String {
        index == 0 ? "output" : "output-\(index + 1)"
    }
}

extension BridgePlan {
    /// Adds a filter by its name, for one stream or for all: see ``VideoFilter/named(_:)``.
    package mutating func addFilter(_ text: String) throws(PipelineError) {
        let (stream, filter) = try VideoFilter.named(text)
        if let stream {
            streamProcessors[stream, default: []].append(filter)
        } else {
            processors.append(filter)
        }
    }

    func loadPlugins() throws(PipelineError) {
        for directory in plugins {
            guard untrusted == nil else {
                throw PipelineError(
                    .refused, message: "an untrusted pipeline cannot load plugins: \(directory)")
            }
            try GStreamer.loadPlugins(in: directory)
        }
    }

    /// Returns the processors of a stream.
    func processors(of stream: String) -> StreamProcessors {
        StreamProcessors(
            video: processors + (streamProcessors[stream] ?? []), audio: audioProcessors)
    }
}

/// The processors of one stream, whose kind of media may be known only with its first sample.
struct StreamProcessors: Sendable {
    let video: [any VideoProcessor & Sendable]
    let audio: [any AudioProcessor & Sendable]

    var isEmpty: Bool { video.isEmpty && audio.isEmpty }

    /// Whether media of these caps is decoded for the processors.
    func decode(_ caps: Caps) -> Bool {
        !video.isEmpty && caps.isEncodedPictures
            || !audio.isEmpty && caps.isSound && caps.mediaType != "audio/x-raw"
    }

    /// Adds the encoded media types that are decoded to the types that the outputs take.
    func decodable(_ kinds: Caps) -> Caps {
        let types =
            (video.isEmpty ? [] : VideoCodec.table.map(\.mediaType))
            + (audio.isEmpty ? [] : AudioCodec.table.map(\.mediaType))
        return types.reduce(kinds) { caps, type in (try? Caps(type)).map { caps.union($0) } ?? caps
        }
    }

    /// Runs the processors of video.
    ///
    /// - Returns: `nil` if one dropped the frame, or failed.
    func process(
        _ frame: consuming VideoFrame, onFailure: (any Error) -> Void
    ) -> VideoFrame? {
        // The frame is moved, not copied: a processor that writes in place is the only owner of its
        // buffer.
        var current: VideoFrame? = consume frame
        for processor in video {
            guard let taken = current.take() else { break }
            do { current = try processor.process(consume taken) } catch { onFailure(error) }
        }
        return current
    }

    /// Does the same for audio.
    func process(
        _ frame: consuming AudioFrame, onFailure: (any Error) -> Void
    ) -> AudioFrame? {
        var current: AudioFrame? = consume frame
        for processor in audio {
            guard let taken = current.take() else { break }
            do { current = try processor.process(consume taken) } catch { onFailure(error) }
        }
        return current
    }
}

extension BridgePlan.Named {
    /// Runs `body` with the string; an error gets the file and line of the string.
    func locating<R>(_ body: (String) throws(PipelineError) -> R) throws(PipelineError) -> R {
        do {
            return try body(text)
        } catch {
            throw origin?.locate(error) ?? error
        }
    }
}

extension BridgePlan.Origin {
    /// Returns the error with `file:line:` in front: the line of the first word that the message
    /// quotes and the string contains, otherwise the string's first line.
    func locate(_ error: PipelineError) -> PipelineError {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let quoted = error.message.split(separator: "\"", omittingEmptySubsequences: false)
        let named = quoted.indices.filter { $0 % 2 == 1 }.map { quoted[$0] }
        let offset = named.lazy.filter { !$0.isEmpty }.compactMap { word in
            lines.firstIndex { $0.contains(word) }
        }.first
        var located = error
        located.message = "\(file):\(line + (offset ?? 0)): \(error.message)"
        return located
    }
}

extension BridgePlan {
    /// Returns the plan without the question marks behind names of streams, which are optional then.
    func withoutOptionalMarks() -> BridgePlan {
        var plan = self
        for index in captures.indices {
            if captures[index].name.hasSuffix("?") {
                plan.captures[index].name.removeLast()
                plan.optionalStreams.insert(plan.captures[index].name)
            }
            let text = PipelineText(captures[index].text)
            let marked = text.mentions(of: ["appsink"]).compactMap(\.name).filter {
                $0.hasSuffix("?")
            }
            guard !marked.isEmpty else { continue }
            plan.optionalStreams.formUnion(marked.map { String($0.dropLast()) })
            plan.captures[index].text = text.words.map { word in
                marked.contains { ["name=\($0)", "name=\"\($0)\""].contains(word) }
                    ? word.filter { $0 != "?" } : word
            }.joined(separator: " ")
        }
        return plan
    }
}
