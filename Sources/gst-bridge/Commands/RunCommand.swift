import ArgumentParser
import MediaBridge

struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Runs a bridge from captures to outputs.",
        discussion: """
            The bridge is a pipeline file, or strings, or a file with strings added to it. A string \
            without an appsink (appsrc) gets one at its open end; streams of several kinds are named: \
            appsink name=video, appsink name=audio.

            Strings and files that somebody else wrote run with --untrusted DIR: their elements must be \
            on a list of those that only compute, and the kernel lets the process write in DIR alone, \
            read nothing else but the system's libraries, and open no socket. Relative paths are then \
            those in DIR. There are no cameras, displays or networks in there.
            """)

    @Argument(help: "A pipeline file.", completion: .file(extensions: ["yaml", "yml"]))
    var file: String?

    @OptionGroup var options: BridgeOptions

    func validate() throws {
        if options.untrusted != nil, file == nil, options.capture == nil {
            throw ValidationError("--untrusted needs a pipeline file or --capture")
        }
        guard file != nil || options.capture != nil else {
            throw ValidationError("a pipeline file or --capture is needed")
        }
        if file == nil, !options.settings.isEmpty {
            throw ValidationError("--set goes with a pipeline file")
        }
    }

    func run() async throws { try await options.run(file: file) }
}
