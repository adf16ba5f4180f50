import Glibc
import MediaBridge

/// Writes progress and errors to standard error. Standard output is reserved for reports.
enum Terminal {
    static var isInteractive: Bool { isatty(STDERR_FILENO) != 0 }

    static func write(_ text: String) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes {
                Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count)
            }
            guard count > 0 else { return }
            bytes = bytes.dropFirst(count)
        }
    }

    static func complain(_ error: PipelineError) { say("\(error)") }

    /// Prints one message. Text from elsewhere in it cannot control the terminal.
    static func say(_ text: String) { write("gst-bridge: \(text.printable)\n") }
}
