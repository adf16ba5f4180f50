import ArgumentParser
import BridgeCommands
import Glibc
import MediaBridge

/// `gst-bridge`: gst-launch strings in, Swift in the middle, gst-launch strings out. Without network code.
@main
struct GstBridge: AsyncParsableCommand {
    static let configuration = CommandConfiguration.gstBridge(
        note: """

            Network commands, in the program \(NetworkProgram.name):
            \(networkCommands)

            """)

    private static var networkCommands: String {
        NetworkCommand.allCases.map { command in
            let name = command.rawValue
            return "  \(name)\(String(repeating: " ", count: 9 - name.count))\(command.abstract)"
        }.joined(separator: "\n")
    }

    static func main() async {
        do throws(PipelineError) {
            try NetworkProgram.replaceProcessForItsCommands()
        } catch {
            Terminal.log(error)
            Glibc.exit(1)
        }
        await runProgram()
    }
}
