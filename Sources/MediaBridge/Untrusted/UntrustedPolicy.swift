/// Restricts untrusted strings to computing, and to reading and writing files in one directory.
///
/// ```swift
/// var plan = BridgePlan(capture: theirCapture, outputs: [theirOutput])
/// plan.untrusted = try UntrustedPolicy(directory: "/srv/jobs/42")
/// let report = try await Bridge(plan).run()
/// ```
///
/// A string passes if every element in it, at any depth, is on a list of elements that only compute
/// (``allowedElements``), and every property that can name a file names one in the directory. The check is
/// made three times: on the tokens of the string, before any element is created; on the elements
/// that GStreamer creates, still in NULL; and on every element that is added later. Anything else
/// is an error with the code ``PipelineError/Code/refused``.
///
/// The policy checks what a string *asks* for. It does not control what a damaged file makes a
/// decoder do: a program that also accepts untrusted files should enter a ``Sandbox`` as well, as
/// `gst-bridge run --untrusted` does.
///
/// Relative paths are resolved against the working directory of the process, so they are inside
/// only if that directory is. Thread: any.
public struct UntrustedPolicy: Sendable, ElementJudge {
    /// The allowed directory, with all symbolic links in its path resolved.
    public let directory: String

    /// Creates a policy for one directory.
    ///
    /// - Throws: ``PipelineError`` if the directory does not exist or is the root.
    public init(directory: String) throws(PipelineError) {
        self.directory = try Sandbox(directory: directory).directory
    }

    /// Checks a file that the program itself writes for an untrusted client.
    ///
    /// - Throws: ``PipelineError`` with ``PipelineError/Code/refused`` if it is not in the
    ///   directory after all symbolic links are resolved.
    public func check(path: String) throws(PipelineError) {
        guard ResolvedPath(path).isInside(directory) else { throw outside(path) }
    }

    func outside(_ path: String, of element: Element? = nil) -> PipelineError {
        PipelineError(
            .refused, element: element?.path,
            message: "\"\(path)\" is outside \(directory), the only directory for files",
            advice: "a path in that directory")
    }

    // MARK: ElementJudge

    /// Returns whether the list of ``allowedElements`` contains the element.
    public func allows(factory: String, plugin: String) -> Bool {
        Self.allowedElements.contains { $0.covers(factory: factory, plugin: plugin) }
    }

    /// Checks an element: its factory, its text properties and the elements that its properties
    /// hold. Sets the file names that it would otherwise choose itself outside of the directory.
    ///
    /// - Throws: ``PipelineError`` with ``PipelineError/Code/refused``.
    package func judge(_ element: Element) throws(PipelineError) {
        let factory = element.factoryName
        guard allows(factory: factory, plugin: element.pluginName) || element.isPlainBin else {
            throw Self.refusal(of: factory.isEmpty ? element.path : factory, at: element.path)
        }
        for property in element.textProperties { try judge(property, of: element) }
        for inner in element.propertyElements { try judge(inner) }
        try confine(element)
    }

    // MARK: Strings

    /// Checks the tokens of a string before any element is created: some elements act when they are
    /// created, or when a property is set. The tokens are those of GStreamer's own lexer.
    func judge(text: String) throws(PipelineError) {
        for token in PipelineText(text).tokens {
            switch token {
            case .identifier(let name), .bin(let name):
                // An unknown element is reported by the parser.
                guard let factory = try ElementFactory.find(name) else { continue }
                guard allows(factory: factory.name, plugin: factory.plugin) else {
                    throw Self.refusal(of: factory.name)
                }
            case .location(let location):
                throw PipelineError(
                    .refused,
                    message: "a URI creates elements that cannot be checked: \"\(location)\"",
                    advice: "filesrc or filesink with a location in \(directory)")
            case .preset(let preset):
                throw PipelineError(
                    .refused,
                    message: "a preset sets properties that cannot be checked: \"\(preset)\"",
                    advice: "set the properties in the string")
            case .assignment, .reference, .link, .other: continue
            }
        }
    }

    /// Checks every element of a parsed pipeline, which must be in NULL, and every element added
    /// later.
    func judge(_ pipeline: Pipeline) throws(PipelineError) {
        for element in pipeline.elements { try judge(element) }
        pipeline.watchElements(self)
    }

    private static func refusal(of name: String, at path: String? = nil) -> PipelineError {
        PipelineError(
            .refused, element: path,
            message: "\"\(name)\" is not among the elements that an untrusted pipeline may use",
            advice: "elements that only compute, or filesrc, filesink, multifilesrc and "
                + "multifilesink in the directory")
    }
}
