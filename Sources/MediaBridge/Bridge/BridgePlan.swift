/// What a ``Bridge`` connects: captures, steps in between, outputs.
public struct BridgePlan: Sendable {
    /// A gst-launch string and the name it goes by in reports.
    public struct Named: Hashable, Sendable {
        public var name: String
        public var text: String
        /// Where the string stands, for errors; `nil` for one that stands in no file.
        public var origin: Origin?

        public init(name: String, text: String, origin: Origin? = nil) {
            self.name = name
            self.text = text
            self.origin = origin
        }
    }

    /// A line of a pipeline file.
    public struct Origin: Hashable, Sendable {
        public var file: String
        /// The line of the string's first word, counted from one.
        public var line: Int
        /// The string as it stands there, before variables were put in.
        public var text: String
    }

    /// Capture strings. Streams are told apart by the names of their appsinks; a string without one
    /// gives a stream of the capture's own name; of the name `audio` where that is the default, and the
    /// string gives nothing but sound.
    public var captures: [Named]

    /// Output strings. Each takes the streams whose names its appsrcs bear; one without an appsrc takes
    /// `video`.
    public var outputs: [Named]

    /// A file that the streams are recorded into, crash-safe, by a ``Recorder``.
    public struct Recording: Sendable {
        /// As it goes by in reports, among the outputs.
        public var name: String
        public var path: String
        /// ``Recorder/Configuration/audio`` is for a stream `audio`; without that, no sound is recorded,
        /// and a configuration that names its codec is an error.
        public var configuration: Recorder.Configuration

        public init(
            name: String = "recording", path: String,
            configuration: Recorder.Configuration = Recorder.Configuration()
        ) {
            self.name = name
            self.path = path
            self.configuration = configuration
        }
    }

    /// Files to record into, beside the outputs.
    public var recordings: [Recording] = []

    /// What happens to each frame of raw video, in this order.
    public var processors: [any VideoProcessor & Sendable] = []

    /// Ends the bridge after so many frames of the first video stream; `nil`: no limit.
    public var frameLimit: Int?

    /// Ends the bridge after so much media time; `nil`: no limit.
    public var durationLimit: Duration?

    /// For every capture of the plan.
    public var captureConfiguration = PipelineVideoSource.Configuration()
    /// For every output of the plan.
    public var outputConfiguration = PipelineVideoSink.Configuration()

    /// What every string of the plan may do, where somebody else wrote them; `nil`: anything.
    public var untrusted: UntrustedPolicy? {
        get { captureConfiguration.untrusted }
        set {
            captureConfiguration.untrusted = newValue
            outputConfiguration.untrusted = newValue
        }
    }

    public init(captures: [Named], outputs: [Named] = []) {
        self.captures = captures
        self.outputs = outputs
    }

    /// One capture, with outputs named `output`, `output-2`, `output-3` ….
    public init(capture: String, outputs: [String] = []) {
        self.init(captures: [Named(name: Self.defaultCapture, text: capture)])
        self.outputs = outputs.enumerated().map { index, text in
            Named(name: Self.outputName(index), text: text)
        }
    }

    /// The name of a capture that was given none.
    public static let defaultCapture = BridgedText.defaultBranch

    /// The name of the output at `index` that was given none.
    public static func outputName(_ index: Int) -> String {
        index == 0 ? "output" : "output-\(index + 1)"
    }
}
