/// What strings may do that somebody else wrote: compute, and read and write files in one directory.
///
/// ```swift
/// var plan = BridgePlan(capture: theirCapture, outputs: [theirOutput])
/// plan.untrusted = try UntrustedPolicy(directory: "/srv/jobs/42")
/// let report = try await Bridge(plan).run()
/// ```
///
/// A string passes where every element in it, at any depth, is on a list of elements that only compute
/// (``permits``), and every property that can name a file names one in the directory. It is asked three
/// times: of the words, before anything is made of them; of the elements that GStreamer made of them, still
/// in NULL; and of every element that appears later. Anything else is an error with the code
/// ``PipelineError/Code/refused``.
///
/// The policy says what a string *asks* for. What a damaged file makes a decoder do it cannot know: a
/// program that takes files from strangers as well enters a ``Sandbox`` besides, as
/// `gst-bridge run --untrusted` does.
///
/// Relative paths are those of the process, so that they are inside only where its working directory is.
/// Thread: any.
public struct UntrustedPolicy: Sendable, ElementJudge {
    /// The one directory, without symbolic links in its path.
    public let directory: String

    /// - Throws: ``PipelineError`` where there is no such directory, or it is the root.
    public init(directory: String) throws(PipelineError) {
        self.directory = try Sandbox(directory: directory).directory
    }

    /// Asks about a file that the program itself writes for others.
    ///
    /// - Throws: ``PipelineError`` with ``PipelineError/Code/refused`` where it is not in the directory,
    ///   every link followed.
    public func check(path: String) throws(PipelineError) {
        guard ResolvedPath(path).isInside(directory) else { throw outside(path) }
    }

    func outside(_ path: String, of element: Element? = nil) -> PipelineError {
        PipelineError(
            .refused, element: element?.path,
            message: "\"\(path)\" is outside of \(directory), the only place for files",
            advice: "a path in that directory")
    }

    // MARK: ElementJudge

    public func allows(factory: String, plugin: String) -> Bool {
        Self.permits.contains { $0.covers(factory: factory, plugin: plugin) }
    }

    public func judge(_ element: Element) throws(PipelineError) {
        let factory = element.factoryName
        guard allows(factory: factory, plugin: element.pluginName) || element.isPlainBin else {
            throw Self.refusal(of: factory.isEmpty ? element.path : factory, at: element.path)
        }
        for property in element.textProperties { try judge(property, of: element) }
        for inner in element.propertyElements { try judge(inner) }
        try confine(element)
    }

    // MARK: Strings

    /// Asks about the words of a string, before anything is made of them: some elements act when they are
    /// made, or when a property is set. The words are those of GStreamer's own lexer.
    func judge(text: String) throws(PipelineError) {
        for token in PipelineText(text).tokens {
            switch token {
            case .identifier(let name), .bin(let name):
                // What there is none of is told by the parser.
                guard let factory = try ElementFactory.find(name) else { continue }
                guard allows(factory: factory.name, plugin: factory.plugin) else {
                    throw Self.refusal(of: factory.name)
                }
            case .location(let location):
                throw PipelineError(
                    .refused, message: "a URI makes elements that nobody sees: \"\(location)\"",
                    advice: "filesrc or filesink with a location in \(directory)")
            case .preset(let preset):
                throw PipelineError(
                    .refused, message: "a preset sets properties that nobody sees: \"\(preset)\"",
                    advice: "write the properties themselves")
            case .assignment, .reference, .link, .other: continue
            }
        }
    }

    /// Asks about every element of a parsed pipeline, which must be in NULL, and about those to come.
    func judge(_ pipeline: Pipeline) throws(PipelineError) {
        for element in pipeline.elements { try judge(element) }
        pipeline.watchElements(self)
    }

    private static func refusal(of name: String, at path: String? = nil) -> PipelineError {
        PipelineError(
            .refused, element: path,
            message: "\"\(name)\" is not among the elements that strings from others may use",
            advice: "elements that only compute, and filesrc, filesink, multifilesrc and "
                + "multifilesink in the directory, may be used")
    }
}
