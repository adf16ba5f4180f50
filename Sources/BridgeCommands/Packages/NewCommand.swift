internal import ArgumentParser
internal import FoundationEssentials
internal import MediaBridge

struct NewCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new",
        abstract: "Write a Swift package with an element of GStreamer, or with a program.",
        discussion: """
            The package has a class, a test of it and a Makefile. "make" in it builds libgst<name>.so, in which \
            gst-launch-1.0 and gst-inspect-1.0 find the element <name>.

            Examples:
              gst-bridge new brighten && make -C brighten run
              gst-bridge new --source ball
            """)

    @Flag(help: "What to write.")
    var kind = Kind.filter

    @Option(
        help: ArgumentHelp(
            """
            The folder of MediaBridge's sources, on which the package depends. Default: the clone that this program \
            was built in, the working directory, or a folder MediaBridge in it.
            """,
            valueName: "path"), completion: .directory)
    var sources: String?

    @Argument(
        help: """
            The name of the element, of its package and of the new folder: lower-case letters and digits.
            """)
    var name: String

    enum Kind: String, EnumerableFlag {
        case filter, source, sink, sound, program

        static func help(for kind: Kind) -> ArgumentHelp? {
            switch kind {
            case .filter: "A filter of video. The default."
            case .source: "A source of video."
            case .sink: "A sink of video."
            case .sound: "A filter of sound."
            case .program: "A program that records a capture through a filter."
            }
        }

        fileprivate var template: PackageTemplate {
            switch self {
            case .filter: .filter
            case .source: .source
            case .sink: .sink
            case .sound: .sound
            case .program: .program
            }
        }

        /// The rest of the line that shows an element, with its name in place of `%NAME%`.
        fileprivate var line: String {
            switch self {
            case .filter, .program: "videotestsrc ! %NAME% ! videoconvert ! autovideosink"
            case .source: "%NAME% ! videoconvert ! autovideosink"
            case .sink: "videotestsrc num-buffers=90 ! %NAME%"
            case .sound: "audiotestsrc ! audioconvert ! %NAME% ! audioconvert ! autoaudiosink"
            }
        }
    }

    func validate() throws {
        guard name.wholeMatch(of: /[a-z][a-z0-9]*/) != nil else {
            throw ValidationError(
                "The name must consist of lower-case letters and digits, and begin with a letter: \(name)"
            )
        }
    }

    func run() async throws {
        let folder = URL(filePath: name, directoryHint: .isDirectory)
        guard !FileManager.default.fileExists(atPath: folder.path(percentEncoded: false)) else {
            throw PipelineError(
                .alreadyExists, message: "\(name) exists already. Try: another name, or remove it")
        }
        try GStreamer.initialize()
        if kind != .program, let plugin = try ElementFactory.find(name)?.plugin {
            throw PipelineError(
                .badValue,
                message: "the plugin \(plugin) has an element \(name) already. Try: another name")
        }
        try kind.template.write(
            to: folder, name: name, type: name.prefix(1).uppercased() + name.dropFirst(),
            line: kind.line, mediaBridge: PackageTemplate.folderOfMediaBridge(sources))
        print("\(name)/README.md says how to build and show it: make -C \(name) run")
    }
}
