internal import Glibc
package import MediaBridge

/// Writes progress and errors to standard error. Standard output is reserved for reports.
package enum Terminal {
    package static var isInteractive: Bool { isatty(STDERR_FILENO) != 0 }

    package static func write(_ text: String) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes {
                Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count)
            }
            guard count > 0 else { return }
            bytes = bytes.dropFirst(count)
        }
    }

    package static func complain(_ error: PipelineError) { say("\(error)") }

    /// Prints one message. Text from elsewhere in it cannot control the terminal.
    package static func say(_ text: String) { write("gst-bridge: \(text.printable)\n") }
}
