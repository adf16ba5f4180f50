internal import FoundationEssentials
internal import Glibc
internal import MediaBridge

/// Builds a package whenever a file of it is saved, and passes each version to a worker: a `gst-bridge` that runs the
/// pipeline, and that a trap in the class may end.
struct DevelopmentRun {
    private let package: ElementPackage
    private let arguments: [String]
    private let record: String?
    private let socket: String
    /// Where the versions of the library are.
    private let folder: String
    /// The versions that may run, the newest last.
    private var versions: [Int] = []
    private var newest = 0
    private var worker: ChildProgram?
    private var workers = 0
    /// The version that the worker runs.
    private var current = 0

    init(
        _ package: ElementPackage, arguments: [String], record: String?, control: String?
    ) throws {
        (self.package, self.arguments, self.record) = (package, arguments, record)
        var template = Array("/tmp/gst-bridge-dev-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw PipelineError(.resourceFailed, message: "cannot create a folder in /tmp")
        }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        socket = control ?? "\(folder)/control"
    }

    /// Runs until the pipeline ends or the task is cancelled.
    mutating func run() async throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        Terminal.log("building \(package.elements.joined(separator: ", "))")
        var built: [String: Date] = [:]
        var build: ChildProgram?
        while true {
            if let ended = build?.poll() {
                build = nil
                try finishBuild(ended)
            }
            if let ended = worker?.poll() {
                worker = nil
                if try workerEnded(ended) { break }
            }
            if Task.isCancelled { break }
            if build == nil, changes(since: built) {
                built = times
                build = try startBuild()
            }
            try? await Task.sleep(for: .milliseconds(50))
        }
        if let build {
            build.interrupt()
            _ = await build.end()
        }
        guard let worker else { return }
        worker.interrupt()
        if case .exited(let status) = await worker.end(), status != 0 {
            throw PipelineError(.streamFailed, message: "the pipeline ended with \(status)")
        }
    }

    // MARK: Files

    private var times: [String: Date] {
        Dictionary(
            uniqueKeysWithValues: package.files.compactMap { file in
                let attributes = try? FileManager.default.attributesOfItem(atPath: file)
                return (attributes?[.modificationDate] as? Date).map { (file, $0) }
            })
    }

    /// Whether a file was saved or deleted. A folder without files is one that an editor is about to fill.
    private func changes(since built: [String: Date]) -> Bool {
        let times = times
        return !times.isEmpty && times != built
    }

    // MARK: Versions

    private var log: String { "\(folder)/build.log" }

    private func startBuild() throws -> ChildProgram {
        let package = package.folder.path(percentEncoded: false)
        var options = ["build", "-c", "release", "--package-path", package]
        options += ["--product", "gst\(self.package.library)", "-Xswiftc", "-static-stdlib"]
        // Lines in the reports of traps.
        options += ["-Xswiftc", "-g", "-Xlinker", "--version-script=\(package)/plugin.map"]
        options += ["-Xlinker", "-Bsymbolic", "-Xlinker", "--gc-sections"]
        return try ChildProgram(
            "swift", options, environment: ["SWIFT_DETERMINISTIC_HASHING": "1"], log: log)
    }

    private mutating func finishBuild(_ end: ChildProgram.End) throws {
        guard end == .exited(0) else {
            let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
            for line in text.split(separator: "\n")
            where !line.hasPrefix("[") && !line.contains("prohibited flag") {
                Terminal.write("\(String(line).printable)\n")
            }
            return Terminal.log(
                "this version does not compile"
                    + (worker == nil ? "" : "; version \(current) goes on"))
        }
        newest += 1
        let library = "libgst\(package.library).so"
        try FileManager.default.createDirectory(
            atPath: "\(folder)/\(newest)", withIntermediateDirectories: true)
        try FileManager.default.copyItem(
            atPath: package.folder.appending(path: ".build/release/\(library)")
                .resolvingSymlinksInPath().path(percentEncoded: false),
            toPath: "\(folder)/\(newest)/\(library)")
        versions.append(newest)
        guard worker != nil else { return try startWorker(newest) }
        // A worker that starts has no socket yet.
        for _ in 0..<200 where access(socket, F_OK) != 0 { usleep(50_000) }
        let answer = try ControlSocket.ask(socket, "reload \(folder)/\(newest)/\(library)")
        struct Answer: Decodable {
            let ok: Bool
            let error: String?
        }
        let outcome = try? JSONDecoder().decode(Answer.self, from: Data(answer.utf8))
        guard outcome?.ok == true else {
            versions.removeLast()
            return Terminal.log(outcome?.error ?? answer)
        }
        current = newest
        Terminal.log("version \(current)")
    }

    // MARK: The worker

    private mutating func startWorker(_ version: Int) throws {
        workers += 1
        unlink(socket)
        unlink(trace)
        var words = arguments + ["--control", socket, "--plugins", "\(folder)/\(version)"]
        if let file = record.map({ numbered($0) }) {
            words = ["record"] + words + [file]
        } else {
            words = ["run"] + words
        }
        let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        worker = try ChildProgram(
            program.path(percentEncoded: false), words, environment: backtraces)
        current = version
        Terminal.log("version \(current)")
    }

    /// What Swift writes when a version traps.
    private var trace: String { "\(folder)/trace" }

    /// Lets Swift write where a trap was, with the program of the toolchain that builds the versions.
    private var backtraces: [String: String] {
        let folders = getenv("PATH").map { String(cString: $0) } ?? ""
        let programs = folders.split(separator: ":").map {
            URL(filePath: "\($0)/swift").resolvingSymlinksInPath().deletingLastPathComponent()
                .appending(path: "../libexec/swift/linux/swift-backtrace-static")
                .path(percentEncoded: false)
        }
        guard let program = programs.first(where: { access($0, X_OK) == 0 }) else { return [:] }
        return [
            "SWIFT_BACKTRACE":
                "enable=yes,interactive=no,color=no,threads=crashed,registers=none,images=none,"
                + "limit=64,top=0,output-to=\(trace),swift-backtrace=\(program)"
        ]
    }

    /// The file and the line of the package in which the worker trapped: ` at Blur.swift:20:83`. Empty if unknown.
    private var placeOfTrap: String {
        let text = (try? String(contentsOfFile: trace, encoding: .utf8)) ?? ""
        for line in text.split(separator: "\n") {
            guard let path = line.split(separator: " at ").last else { continue }
            let file = path.prefix { $0 != ":" }.split(separator: "/").last ?? ""
            if package.files.contains(where: { $0.hasSuffix("/\(file)") }) {
                return " at \(file)\(path.drop { $0 != ":" })"
            }
        }
        return ""
    }

    /// Returns the name of the recording of the present worker: `film.mkv`, `film-2.mkv`.
    private func numbered(_ file: String) -> String {
        guard workers > 1 else { return file }
        let url = URL(filePath: file)
        return url.deletingPathExtension().path(percentEncoded: false)
            + "-\(workers).\(url.pathExtension)"
    }

    /// - Returns: Whether the run has ended.
    private mutating func workerEnded(_ end: ChildProgram.End) throws -> Bool {
        if end == .exited(0) { return true }
        let reason =
            switch end {
            case .exited(let status): "ended with \(status)"
            case .killed(let signal):
                "was ended by \"\(String(cString: strsignal(signal)))\"\(placeOfTrap)"
            }
        versions.removeAll { $0 == current }
        guard let good = versions.last else {
            Terminal.log("version \(current) \(reason); the next version that is saved runs")
            return false
        }
        Terminal.log("version \(current) \(reason); version \(good) runs again")
        try startWorker(good)
        return false
    }
}
