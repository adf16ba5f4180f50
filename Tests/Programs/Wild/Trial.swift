import Foundation
import TestSupport

/// One entry, run whole and split.
struct Trial {
    let entry: Entry
    let bridge: String
    let films: Films
    /// The parent of both runs' directories.
    let folder: TemporaryDirectory

    /// The limit of each run.
    private static let deadline = Duration.hangLimit

    func run() async throws -> Verdict {
        var whole = try await runWhole()
        // gst-launch-1.0 itself sometimes fails or hangs with live sources in many threads.
        if whole.ending != .status(0), entry.expect.refusal == nil { whole = try await runWhole() }
        let cut = try await run("cut") { expand in
            [bridge] + arguments(expand) + ["--progress", "never", "--report", "json"]
        }
        return try await Verdict(of: entry, whole: whole, cut: cut)
    }

    private func runWhole() async throws -> Remains {
        try? FileManager.default.removeItem(atPath: folder.file("whole"))
        return try await run("whole") { expand in
            ["bash", "-c", "exec gst-launch-1.0 " + expand(entry.line)]
        }
    }

    /// The command line to repeat the run by hand.
    var command: String {
        let words = ["gst-bridge"] + arguments { $0 }
        return words.map { word in
            let isPlain = word.allSatisfy { $0.isLetter || $0.isNumber || "-_./=".contains($0) }
            return isPlain ? word : "'" + word.replacing("'", with: "'\\''") + "'"
        }.joined(separator: " ")
    }

    private func arguments(_ expand: (String) -> String) -> [String] {
        ["run", "--capture", expand(entry.capture)]
            + entry.outputs.flatMap { ["--output", expand($0)] }
            + entry.filters.flatMap { ["--filter", $0] } + entry.arguments
    }

    private func run(
        _ name: String, _ words: ((String) -> String) -> [String]
    ) async throws -> Remains {
        let directory = TemporaryDirectory(existing: folder.file(name))
        try FileManager.default.createDirectory(
            atPath: directory.path, withIntermediateDirectories: true)
        let films = try await films.put(entry.needs, into: directory)
        var watches: [Int: DatagramWatch] = [:]
        for port in entry.expect.datagrams { watches[port] = try DatagramWatch() }
        func expand(_ text: String) -> String {
            watches.reduce(text.replacing("$PWD", with: directory.path)) { text, watch in
                text.replacing("port=\(watch.key)", with: "port=\(watch.value.port)")
            }
        }
        func ended(_ display: VirtualDisplay?) async throws -> Remains {
            let windows =
                if let display { try await WindowWatch(on: display) } else { WindowWatch?.none }
            // Audio goes to a null device, and video to a virtual display. Leak detection is off,
            // because some elements leak under gst-launch-1.0 too.
            let options = ProcessInfo.processInfo.environment["ASAN_OPTIONS"].map { $0 + ":" } ?? ""
            let environment = [
                "DISPLAY": display?.name ?? "", "PULSE_SERVER": "none", "ALSOFT_DRIVERS": "null",
                "ASAN_OPTIONS": options + "detect_leaks=0",
            ]
            let arguments = ["-C", directory.path] + words(expand)
            let program = try ChildProcess("env", arguments, environment: environment)
            var remains = Remains(
                ending: .hung, errors: "", files: [:], directory: directory, windows: [],
                datagrams: [:])
            do {
                let result = try await program.end(within: Self.deadline)
                remains.ending = .status(result.status)
                remains.errors = result.errors
                let last = result.output.split(separator: "\n").last ?? ""
                remains.report = try? JSONDecoder().decode(
                    Remains.Report.self, from: Data(last.utf8))
            } catch {
                remains.errors = program.errors
            }
            remains.windows = try await windows?.end() ?? []
            return remains
        }
        var remains =
            try await entry.needsDisplay
            ? withVirtualDisplay(width: 1280, height: 1024) { try await ended($0) } : ended(nil)
        for (port, watch) in watches { remains.datagrams[port] = watch.end() }
        remains.files = try files(in: directory, leavingOut: films)
        return remains
    }

    private func files(
        in directory: TemporaryDirectory, leavingOut films: Set<String>
    ) throws -> [String: Int] {
        var files: [String: Int] = [:]
        for name in directory.contents where !films.contains(name) {
            let about = try FileManager.default.attributesOfItem(atPath: directory.file(name))
            guard about[.type] as? FileAttributeType == .typeRegular else { continue }
            files[name] = about[.size] as? Int
        }
        return files
    }
}
