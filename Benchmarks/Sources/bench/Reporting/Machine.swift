import Foundation

/// The machine and the software versions of a measurement.
struct Machine: Codable, CustomStringConvertible {
    let date: String
    let processor: String
    let cores: Int
    let kernel: String
    let gstreamer: String

    static func current() throws -> Machine {
        let cpu = try String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)
        let model = cpu.split(separator: "\n").first { $0.hasPrefix("model name") }
            .flatMap { $0.split(separator: ":").last }
        var name = utsname()
        uname(&name)
        let kernel = withUnsafeBytes(of: name.release) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        let file = NSTemporaryDirectory() + "mediabridge-bench-version-\(getpid())"
        defer { try? FileManager.default.removeItem(atPath: file) }
        _ = try Program.run("gst-launch-1.0", ["--version"], output: file)
        let version = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
            .first { $0.hasPrefix("GStreamer") }
        return Machine(
            date: Date.now.formatted(.iso8601),
            processor: model.map { $0.trimmingCharacters(in: .whitespaces) } ?? "unknown",
            cores: ProcessInfo.processInfo.activeProcessorCount, kernel: kernel,
            gstreamer: version.map(String.init) ?? "GStreamer of an unknown version")
    }

    var description: String {
        "\(processor), \(cores) cores, Linux \(kernel), \(gstreamer), \(date)"
    }
}
