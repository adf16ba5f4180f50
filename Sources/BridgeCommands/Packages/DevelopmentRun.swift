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
    /// The library of the newest version, which the worker loads once it takes commands.
    private var waiting: String?

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
        var build: ChildProgram?
        defer { build?.send(SIGTERM) }
        do { try await follow(&build) } catch {
            worker?.send(SIGINT)
            _ = await worker?.end()
            throw error
        }
        guard let worker else { return }
        worker.send(SIGINT)
        if case .exited(let status) = await worker.end(), status != 0 {
            throw PipelineError(.streamFailed, message: "the pipeline ended with \(status)")
        }
    }

    /// Builds what is saved and keeps a worker running, until the pipeline ends or the task is cancelled.
    private mutating func follow(_ build: inout ChildProgram?) async throws {
        var (built, seen): ([String: Date], [String: Date]) = ([:], [:])
        while !Task.isCancelled {
            if let ended = build?.poll() {
                build = nil
                try finishBuild(ended)
            }
            if let ended = worker?.poll() {
                worker = nil
                if try workerEnded(ended) { return }
            }
            // A worker that starts has no socket yet.
            if let library = waiting, let worker, access(socket, F_OK) == 0 {
                load(library, into: worker)
            }
            // An editor may write a file in several steps.
            let times = times
            if build == nil, !times.isEmpty, times != built, times == seen {
                built = times
                build = try startBuild()
            }
            seen = times
            try? await Task.sleep(for: .milliseconds(50))
        }
    }

    // MARK: Files

    /// When each file was saved. Empty if there is none: an editor is about to write it.
    private var times: [String: Date] {
        Dictionary(
            uniqueKeysWithValues: package.files.compactMap { file in
                let attributes = try? FileManager.default.attributesOfItem(atPath: file)
                return (attributes?[.modificationDate] as? Date).map { (file, $0) }
            })
    }

    // MARK: Versions

    private var log: String { "\(folder)/build.log" }

    private func startBuild() throws -> ChildProgram {
        // Not stripped: the report of a trap names the line.
        let words = ["--silent", "-C", package.folder.path(percentEncoded: false), "STRIP="]
        return try ChildProgram("make", words, log: log)
    }

    private mutating func finishBuild(_ end: ChildProgram.End) throws {
        guard end == .exited(0) else {
            let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
            for line in text.split(separator: "\n")
            where !line.hasPrefix("[") && !line.hasPrefix("make: ")
                && !line.contains("prohibited flag")
            {
                Terminal.write("\(String(line).printable)\n")
            }
            return Terminal.log("this version does not compile\(goesOn)")
        }
        let library: String
        do { library = try keepLibrary() } catch {
            return Terminal.log("cannot keep this version: \(error)\(goesOn)")
        }
        newest += 1
        versions.append(newest)
        if worker == nil { try startWorker(newest) } else { waiting = library }
    }

    /// Replaces the version that the worker runs by the newest.
    private mutating func load(_ library: String, into worker: ChildProgram) {
        waiting = nil
        let answer: BridgeControl.Answer
        do {
            let line = try ControlSocket.ask(socket, "reload \(library)")
            answer = try JSONDecoder().decode(BridgeControl.Answer.self, from: Data(line.utf8))
        } catch {
            // The version has ended the worker, or keeps it from answering.
            current = newest
            return worker.send(SIGKILL)
        }
        guard answer.ok else {
            versions.removeLast()
            return Terminal.log("\(answer.error ?? "version \(newest) is refused")\(goesOn)")
        }
        current = newest
        Terminal.log("version \(current)")
    }

    /// What else happens when a version cannot be used.
    private var goesOn: String { worker == nil ? "" : "; version \(current) goes on" }

    /// Copies what was built to where the next build leaves it, and returns its path.
    private func keepLibrary() throws -> String {
        let name = "libgst\(package.library).so"
        let place = folderOfVersion(newest + 1)
        // Of a version that was not kept.
        try? FileManager.default.removeItem(atPath: place)
        try FileManager.default.createDirectory(
            atPath: place, withIntermediateDirectories: true)
        try FileManager.default.copyItem(
            atPath: package.folder.appending(path: ".build/release/\(name)")
                .resolvingSymlinksInPath().path(percentEncoded: false),
            toPath: "\(place)/\(name)")
        return "\(place)/\(name)"
    }

    private func folderOfVersion(_ version: Int) -> String { "\(folder)/\(version)" }

    // MARK: The worker

    private mutating func startWorker(_ version: Int) throws {
        workers += 1
        waiting = nil
        unlink(socket)
        unlink(trace)
        var words = arguments + ["--control", socket, "--plugins", folderOfVersion(version)]
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
