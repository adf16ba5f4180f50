import Foundation

/// External programs that tests use to check this library.
public enum Tool {
    /// The Debian packages of programs that may be missing.
    private static let packages = [
        "ffprobe": "ffmpeg", "ffmpeg": "ffmpeg", "Xvfb": "xvfb", "xclock": "x11-apps",
        "xeyes": "x11-apps", "xev": "x11-utils", "xwininfo": "x11-utils",
        "gst-launch-1.0": "gstreamer1.0-tools",
        "gst-discoverer-1.0": "gstreamer1.0-plugins-base-apps", "valgrind": "valgrind",
        "strip": "binutils", "janus": "janus", "turnserver": "coturn",
        "whip-client": "simple-whip-client", "nsenter": "util-linux", "unshare": "util-linux",
        "openssl": "openssl", "cc": "gcc",
    ]

    /// Runs a program to its end.
    ///
    /// - Parameter deadline: When it expires, the program is killed and the call throws.
    /// - Throws: ``ChildProcess/Failure`` if the program is not installed or takes too long. The
    ///   caller must check the exit status.
    public static func run(
        _ tool: String, _ arguments: [String] = [], environment: [String: String] = [:],
        within deadline: Duration = .hangLimit
    ) async throws -> ChildProcess.Result {
        try await ChildProcess(tool, arguments, environment: environment).end(within: deadline)
    }

    /// The same, but throws if the exit status is not 0.
    ///
    /// - Returns: The standard output.
    @discardableResult
    public static func check(
        _ tool: String, _ arguments: [String] = [], environment: [String: String] = [:],
        within deadline: Duration = .hangLimit
    ) async throws -> String {
        let result = try await run(tool, arguments, environment: environment, within: deadline)
        guard result.status == 0 else {
            throw ChildProcess.Failure(
                description: "\(tool) \(arguments) ended with \(result.status): \(result.errors)")
        }
        return result.output
    }

    /// The `gst-bridge` that was built with the tests, or that of the variable `GST_BRIDGE`.
    public static var gstBridge: String {
        get throws {
            try ProcessInfo.processInfo.environment["GST_BRIDGE"] ?? built("gst-bridge")
        }
    }

    /// A program of this package that was built with the tests.
    public static func built(_ name: String) throws -> String {
        let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        // Swift Testing may run in a helper program elsewhere; the arguments name the bundle.
        let places = CommandLine.arguments.filter { $0.hasSuffix(".xctest") } + [tests]
        for place in places {
            let path = (place as NSString).deletingLastPathComponent + "/\(name)"
            if FileManager.default.isExecutableFile(atPath: path) { return path }
        }
        throw ChildProcess.Failure(description: "no \(name) beside \(places)")
    }

    static func path(of tool: String) throws -> String {
        if tool.contains("/") { return tool }
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        for directory in path.split(separator: ":") {
            let candidate = "\(directory)/\(tool)"
            if FileManager.default.isExecutableFile(atPath: candidate) { return candidate }
        }
        let package = packages[tool].map { ": apt install \($0)" } ?? ""
        throw ChildProcess.Failure(description: "\(tool) is not installed\(package)")
    }
}
