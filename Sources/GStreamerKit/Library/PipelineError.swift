internal import MediaBasics

/// An error of a pipeline, with GStreamer's own message and advice on what to do.
///
/// ```swift
/// do {
///     let bridge = try Bridge(BridgePlan(capture: "v4l2src ! videoconvert"))
///     try await bridge.run().get()
/// } catch where error.code == .missingElement {
///     print(error.message, error.advice ?? "")  // the Debian package to install
/// }
/// ```
public struct PipelineError: Error, Equatable, Sendable {
    /// The kind of failure, to be tested by programs.
    public var code: Code

    /// The path of the element that failed, for example
    /// `/GstPipeline:pipeline0/GstFileSrc:filesrc0`; `nil` if the error belongs to no element.
    public var element: String?

    /// GStreamer's error domain, for example `gst-resource-error-quark`; `nil` for errors of this
    /// package.
    public var domain: String?
    /// GStreamer's error code within ``domain``; `nil` for errors of this package.
    public var domainCode: Int?

    /// GStreamer's message.
    public var message: String

    /// GStreamer's debug text: file, line, function and detail.
    public var debug: String?

    /// What to do about it; for a missing element, the Debian package that contains it.
    public var advice: String?

    /// The least delay before another attempt, if a server has stated one; otherwise `nil`.
    package var retryAfter: Duration?

    /// Creates an error from its parts.
    package init(
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

    /// Creates the error of a system call that has just failed on this thread: `cannot read a.mkv: No such
    /// file or directory`.
    package init(_ code: Code = .resourceFailed, cannot task: String, advice: String? = nil) {
        self.init(code, message: "cannot \(task): \(systemErrorText())", advice: advice)
    }

    /// The kind of failure. New kinds may be added: switch over them with a `default`.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The name of the kind, which is also its identity.
        package let rawValue: String
        /// Creates a kind from its name.
        package init(rawValue: String) { self.rawValue = rawValue }
        /// The name of the kind.
        public var description: String { rawValue }

        /// GStreamer itself could not be initialised.
        public static let initializationFailed = Code(rawValue: "initializationFailed")
        /// A pipeline file that cannot be read: not YAML, a wrong key, a variable without a value.
        public static let badFile = Code(rawValue: "badFile")
        /// The string is not valid gst-launch syntax.
        public static let syntax = Code(rawValue: "syntax")
        /// An element, a decoder or a protocol handler that is not installed.
        public static let missingElement = Code(rawValue: "missingElement")
        /// An element has no property of the given name.
        public static let noSuchProperty = Code(rawValue: "noSuchProperty")
        /// A property does not accept the given value.
        public static let badValue = Code(rawValue: "badValue")
        /// Two elements cannot be linked.
        public static let linkFailed = Code(rawValue: "linkFailed")
        /// Two elements have the same name.
        public static let duplicateName = Code(rawValue: "duplicateName")
        /// The string lacks a required appsink or appsrc, or has one too many.
        public static let wrongEnds = Code(rawValue: "wrongEnds")
        /// A file, device or host does not exist.
        public static let notFound = Code(rawValue: "notFound")
        /// A file that is not to be overwritten.
        public static let alreadyExists = Code(rawValue: "alreadyExists")
        /// A file, device or host that could not be opened, read or written.
        public static let resourceFailed = Code(rawValue: "resourceFailed")
        /// The disk is full.
        public static let noSpaceLeft = Code(rawValue: "noSpaceLeft")
        /// The stream is damaged, of a wrong type, or could not be negotiated.
        public static let streamFailed = Code(rawValue: "streamFailed")
        /// The stream ended without a single frame.
        public static let noFrames = Code(rawValue: "noFrames")
        /// Frames without a timestamp.
        public static let noTime = Code(rawValue: "noTime")
        /// A state change failed, and no element posted an error.
        public static let stateChangeFailed = Code(rawValue: "stateChangeFailed")
        /// An operation did not finish within its deadline.
        public static let deadlineExceeded = Code(rawValue: "deadlineExceeded")
        /// A call that is not valid in the present state: a write before start, a second reader.
        public static let invalidState = Code(rawValue: "invalidState")
        /// The operation was cancelled before it was complete.
        public static let interrupted = Code(rawValue: "interrupted")
        /// An untrusted pipeline string asks for something that its policy does not allow.
        public static let refused = Code(rawValue: "refused")
        /// The kernel cannot confine the process, or refuses to.
        public static let sandboxUnavailable = Code(rawValue: "sandboxUnavailable")
        /// Any other error an element posted.
        public static let elementFailed = Code(rawValue: "elementFailed")
    }
}

extension String {
    /// The text with its line breaks replaced by spaces.
    package var onOneLine: String {
        split(whereSeparator: \.isNewline).joined(separator: " ").trimmingSuffix(" ")
    }

    /// The text made safe for a terminal: control characters are escaped, for example as `\u{1b}`.
    /// Otherwise foreign names, tags and paths could move the cursor, rename the window or generate
    /// input.
    package var printable: String {
        guard unicodeScalars.contains(where: Self.isControl) else { return self }
        return unicodeScalars.map { scalar in
            Self.isControl(scalar)
                ? "\\u{\(String(scalar.value, radix: 16))}" : String(Character(scalar))
        }.joined()
    }

    /// Whether a character belongs to C0 or C1, or changes the writing direction; line feeds and
    /// tabs are left as they are.
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0a: false
        case 0..<0x20, 0x7f..<0xa0, 0x200e...0x200f, 0x2028...0x202e, 0x2066...0x2069: true
        default: false
        }
    }

    /// Returns the text without the characters at both ends that satisfy the predicate.
    func trimming(_ isTrimmed: (Character) -> Bool) -> String {
        var text = drop(while: isTrimmed)
        while let last = text.last, isTrimmed(last) { text.removeLast() }
        return String(text)
    }

    func trimmingSuffix(_ characters: String) -> String {
        var text = Substring(self)
        while let last = text.last, characters.contains(last) { text.removeLast() }
        return String(text)
    }
}

// MARK: Description

extension PipelineError: CustomStringConvertible {
    /// One paragraph: the message, the element, GStreamer's details and the advice. The element's
    /// path appears once, and long caps are shortened; ``debug`` has the full text.
    public var description: String {
        var text = Self.brief(message.trimmingSuffix(".\n "))
        if let element, !text.contains(element) { text += " (\(element))" }
        if let detail { text += ". GStreamer: " + detail }
        if let advice { text += (text.hasSuffix(".") ? " " : ". ") + "Try: \(advice)" }
        return text.hasSuffix(".") ? text : text + "."
    }

    /// GStreamer's debug text without the parts that the paragraph already has: the prefix
    /// `file.c(12): function (): /path/of/element:`.
    private var detail: String? {
        guard let debug, !debug.isEmpty else { return nil }
        var text = debug.split(separator: "\n").joined(separator: " ")
        var place = ""
        if let call = text.firstRange(of: " (): "), text[..<call.lowerBound].contains("): ") {
            place = text[..<call.lowerBound].split(separator: "/").last.map(String.init) ?? ""
            text = String(text[call.upperBound...])
        }
        if let element {
            text = text.replacing("\(element): ", with: "").replacing("\(element):", with: "")
                .replacing(element, with: "")
        }
        text = text.trimmingSuffix(" ")
        if text.isEmpty { return place.isEmpty ? nil : "\(place) ()" }
        return Self.brief(text)
    }

    /// Returns the text without types of fields, and with long lists and caps shortened.
    private static func brief(_ text: String) -> String {
        let result =
            text
            .replacing(/\((string|int|fraction|boolean|buffer|bitmask|uint|double)\)/, with: "")
            // `{ A, B, C, D, E, F }` becomes `{ A, B, C, … }`.
            .replacing(/\{([^,}]*,[^,}]*,[^,}]*)(?:,[^,}]*){2,}\}/) { "{\($0.1), … }" }
        let limit = 700
        guard result.count > limit else { return result }
        return "\(result.prefix(limit * 2 / 3)) … \(result.suffix(limit / 3))"
    }
}

extension PipelineError {
    /// Advice for the case that video cannot be displayed.
    static var displayAdvice: String {
        "use a display that this process can open (DISPLAY, WAYLAND_DISPLAY); "
            + "xvfb-run provides one without a screen"
    }
}
