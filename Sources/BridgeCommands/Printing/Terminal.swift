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

/// Formats numbers for output.
package enum Text {
    package static func decimal(_ value: Double, _ places: Int) -> String {
        var scale = 1.0
        for _ in 0..<places { scale *= 10 }
        let scaled = Int((abs(value) * scale).rounded())
        let whole = String(scaled / Int(scale))
        let sign = value < 0 && scaled != 0 ? "-" : ""
        guard places > 0 else { return sign + whole }
        let fraction = String(scaled % Int(scale))
        return sign + whole + "." + String(repeating: "0", count: places - fraction.count)
            + fraction
    }

    package static func bytes(_ count: Int) -> String {
        switch count {
        case ..<1000: "\(count) bytes"
        case ..<1_000_000: decimal(Double(count) / 1e3, 1) + " kB"
        case ..<1_000_000_000: decimal(Double(count) / 1e6, 1) + " MB"
        default: decimal(Double(count) / 1e9, 2) + " GB"
        }
    }
}
