import Foundation

/// A program that does the work of a comparison.
struct Contestant {
    let name: String
    let program: String
    let arguments: [String]
    /// The limits of its figures.
    var limits: [Limit] = []
    /// A command that succeeds if the machine meets the contestant's requirements, and otherwise prints
    /// the missing ones to standard error; `nil` for a contestant that is always available.
    var probe: [String]?

    /// The command, with progress and report turned off.
    static func command(_ name: String, _ arguments: [String], limits: [Limit] = []) -> Contestant {
        Contestant(
            name: name, program: path(of: "gst-bridge"),
            arguments: arguments + ["--report", "none", "--progress", "never"], limits: limits)
    }

    /// The command with these arguments alone.
    static func plain(
        _ name: String, _ arguments: [String], limits: [Limit] = []
    ) -> Contestant {
        Contestant(
            name: name, program: path(of: "gst-bridge"), arguments: arguments, limits: limits)
    }

    /// A bridge that the command runs.
    static func bridge(
        _ capture: String, _ output: String, options: [String] = [],
        name: String = "gst-bridge run",
        limits: [Limit] = []
    ) -> Contestant {
        command(name, ["run", "--capture", capture, "--output", output] + options, limits: limits)
    }

    /// A workload of a program that uses the library.
    static func swift(_ name: String, _ arguments: [String], limits: [Limit] = []) -> Contestant {
        product("swift-workloads", name, arguments, limits: limits)
    }

    /// A program of this package.
    static func product(
        _ product: String, _ name: String, _ arguments: [String], limits: [Limit] = []
    ) -> Contestant {
        Contestant(name: name, program: path(of: product), arguments: arguments, limits: limits)
    }

    /// The same workload in C.
    static func c(_ name: String, _ arguments: [String]) -> Contestant {
        Contestant(name: name, program: path(of: "c-workloads"), arguments: arguments)
    }

    /// A line for gst-launch-1.0, without quotes.
    static func launch(_ name: String, _ line: String) -> Contestant {
        Contestant(
            name: name, program: "gst-launch-1.0",
            arguments: ["-q"] + line.split(whereSeparator: \.isWhitespace).map(String.init))
    }

    /// A script of this package, run by Debian's Python.
    static func python(_ name: String, _ script: String, _ arguments: [String], imports: String)
        -> Contestant
    {
        Contestant(
            name: name, program: "/usr/bin/python3",
            arguments: [Places.package.appending(path: "Python/\(script)").path] + arguments,
            probe: ["/usr/bin/python3", "-c", "import \(imports)"])
    }

    private static func path(of product: String) -> String {
        let ours = Places.products.appending(path: product).path
        if FileManager.default.isExecutableFile(atPath: ours) { return ours }
        return Places.package.deletingLastPathComponent()
            .appending(path: ".build/release/\(product)").path
    }
}

/// The locations of this package and its build products.
enum Places {
    /// Benchmarks/.build/TRIPLE/release
    static let products = Bundle.main.executableURL!.resolvingSymlinksInPath()
        .deletingLastPathComponent()
    /// The path of a library to preload.
    static func library(_ name: String) -> String {
        products.appending(path: "lib\(name).so").path
    }
    static let package = products.deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
}
