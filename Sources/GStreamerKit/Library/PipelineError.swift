/// What went wrong in a pipeline, in GStreamer's own words, with what to do about it.
public struct PipelineError: Error, Hashable, Sendable {
    /// The kind of failure, for programs.
    public var code: Code

    /// Where: `/GstPipeline:pipeline0/GstFileSrc:filesrc0`. `nil` where no element is to blame.
    public var element: String?

    /// GStreamer's error domain (`gst-resource-error-quark`) and the code within it.
    public var domain: String?
    public var domainCode: Int?

    /// GStreamer's message.
    public var message: String

    /// GStreamer's debug text: file, line, function and detail.
    public var debug: String?

    /// What to do; for a missing element, the Debian package that brings it.
    public var advice: String?

    public init(
        _ code: Code, element: String? = nil, domain: String? = nil, domainCode: Int? = nil,
        message: String, debug: String? = nil, advice: String? = nil
    ) {
        self.code = code
        self.element = element
        self.domain = domain
        self.domainCode = domainCode
        self.message = message
        self.debug = debug
        self.advice = advice
    }

    /// The kind of failure. New kinds may be added: switch over them with a `default`.
    public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        public var description: String { rawValue }

        /// GStreamer itself did not start.
        public static let initializationFailed = Code(rawValue: "initializationFailed")
        /// A pipeline file that cannot be read: not YAML, a wrong key, a variable without a value.
        public static let badFile = Code(rawValue: "badFile")
        /// The string is not one that gst-launch would read.
        public static let syntax = Code(rawValue: "syntax")
        /// An element, a decoder or a protocol handler that is not installed.
        public static let missingElement = Code(rawValue: "missingElement")
        /// An element has no property of that name.
        public static let noSuchProperty = Code(rawValue: "noSuchProperty")
        /// A property does not take that value.
        public static let badValue = Code(rawValue: "badValue")
        /// Two elements that cannot be linked.
        public static let linkFailed = Code(rawValue: "linkFailed")
        /// Two elements of one name.
        public static let duplicateName = Code(rawValue: "duplicateName")
        /// The string lacks an appsink or appsrc that is asked for, or has one too many.
        public static let wrongEnds = Code(rawValue: "wrongEnds")
        /// A file, device or host that is not there.
        public static let notFound = Code(rawValue: "notFound")
        /// A file, device or host that could not be opened, read or written.
        public static let resourceFailed = Code(rawValue: "resourceFailed")
        /// The disk is full.
        public static let noSpaceLeft = Code(rawValue: "noSpaceLeft")
        /// The stream is damaged, of a wrong type, or could not be negotiated.
        public static let streamFailed = Code(rawValue: "streamFailed")
        /// The stream ended without a single frame.
        public static let noFrames = Code(rawValue: "noFrames")
        /// Frames that carry no time.
        public static let noTime = Code(rawValue: "noTime")
        /// A state change that failed without a word.
        public static let stateChangeFailed = Code(rawValue: "stateChangeFailed")
        /// Something did not come to its end in the time it was given.
        public static let deadlineExceeded = Code(rawValue: "deadlineExceeded")
        /// A call that makes no sense in the present state: a write before start, a second reader.
        public static let invalidState = Code(rawValue: "invalidState")
        /// It was asked to end before its end.
        public static let interrupted = Code(rawValue: "interrupted")
        /// A string that was written by somebody else asks for something that its policy does not allow.
        public static let refused = Code(rawValue: "refused")
        /// The kernel cannot confine the process, or will not.
        public static let sandboxUnavailable = Code(rawValue: "sandboxUnavailable")
        /// Any other error an element posted.
        public static let elementFailed = Code(rawValue: "elementFailed")
    }
}

extension String {
    /// The lines as one: what stands in a paragraph.
    package var onOneLine: String {
        split(whereSeparator: \.isNewline).joined(separator: " ").trimmingSuffix(" ")
    }

    /// The text for a terminal: what is no character to be seen stands as `\u{1b}`. Names, tags and paths of
    /// others would move the cursor, rename the window or type answers otherwise.
    package var printable: String {
        guard unicodeScalars.contains(where: Self.isControl) else { return self }
        return unicodeScalars.map { scalar in
            Self.isControl(scalar)
                ? "\\u{\(String(scalar.value, radix: 16))}" : String(Character(scalar))
        }.joined()
    }

    /// Of both sets of control characters, and of those that turn the direction of writing; lines and tabs
    /// stay.
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0a: false
        case 0..<0x20, 0x7f..<0xa0, 0x200e...0x200f, 0x2028...0x202e, 0x2066...0x2069: true
        default: false
        }
    }

    func trimmingSuffix(_ characters: String) -> String {
        var text = Substring(self)
        while let last = text.last, characters.contains(last) { text.removeLast() }
        return String(text)
    }
}
