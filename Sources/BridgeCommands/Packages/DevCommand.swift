internal import ArgumentParser
internal import FoundationEssentials
internal import Glibc
internal import MediaBridge

struct DevCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dev",
        abstract: "Run a Swift class in a pipeline, and each version of it that is saved.",
        discussion: """
            <path> is the folder of a package that "gst-bridge new" wrote, or a file with one class that conforms to \
            MediaElement. The class is an element of the pipeline: where --capture names it, or at its end. When a file \
            is saved, the element is replaced between two frames: no frame is lost, a recording goes on, and the \
            properties keep their values. If the new version does not compile, the old one goes on. If it traps, the \
            pipeline starts again with the version before, and a recording goes on in another file.

            Examples:
              gst-bridge dev Blur.swift --capture "v4l2src ! videoconvert"
              gst-bridge dev brighten --record film.mkv
            """)

    @Option(
        help: ArgumentHelp(
            "Capture: a gst-launch string. Default: a live test pattern, or the element if it is a source.",
            valueName: "string"))
    var capture: String?

    @Option(
        help: ArgumentHelp(
            "Output: a gst-launch string. Default: a window, or nothing with --record.",
            valueName: "string"))
    var output: String?

    @Option(
        help: ArgumentHelp(
            "Recording; those after a trap have a number in the name.", valueName: "file"),
        completion: .file())
    var record: String?

    @Option(
        help: ArgumentHelp(
            "Socket for \"gst-bridge ctl\". Default: one in a temporary folder.", valueName: "path")
    )
    var control: String?

    @Option(
        help: ArgumentHelp(
            "The folder of MediaBridge's sources, for a single file. Default: as \"gst-bridge new\" finds it.",
            valueName: "path"), completion: .directory)
    var sources: String?

    @Argument(help: "A package, or a file with one class.", completion: .file())
    var path: String

    func run() async throws {
        let package = try ElementPackage(at: path, sources: sources)
        let prepared = try DevelopmentRun(
            package, arguments: workerArguments(package), record: record, control: control)
        let task = Task.detached {
            var work = prepared
            try await work.run()
        }
        try await Interruption.during {
            task.cancel()
        } _: {
            try await task.value
        }
    }

    /// The arguments of the program that runs the pipeline, without the recording and the socket.
    private func workerArguments(_ package: ElementPackage) -> [String] {
        let kind = package.kind
        var text = capture ?? kind.defaultCapture
        let words = text.split { $0 == " " || $0 == "!" }.map(String.init)
        if !words.contains(where: package.elements.contains) {
            let parts = kind == .source ? [] : [text, kind.converter]
            text = (parts + [package.elements[0], kind.converter]).joined(separator: " ! ")
        }
        let outputs = output ?? (record == nil ? kind.defaultOutput : nil)
        return ["--capture", text] + (outputs.map { ["--output", $0] } ?? [])
    }
}
