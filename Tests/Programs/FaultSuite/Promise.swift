import TestSupport

/// Something that a recording promises, and how it is tried.
struct Promise: Sendable {
    /// For `--only`: `kill-mkv`.
    let name: String
    /// What is done to the recording, for the table.
    let fault: String
    let text: String
    let check: @Sendable (Options) async throws -> Finding

    init(
        name: String, fault: String, text: String,
        check: @escaping @Sendable (Options) async throws -> Finding
    ) {
        self.name = name
        self.fault = fault
        self.text = text
        self.check = check
    }

    /// - Parameter isCopy: Whether it is the one of copied media, which has a name of its own.
    init(
        name: String, fault: String, isCopy: Bool, text: String,
        check: @escaping @Sendable (Options) async throws -> Finding
    ) {
        self.init(
            name: Subject.name(name, isCopy), fault: Subject.title(fault, isCopy), text: text,
            check: check)
    }

    static let all: [Promise] =
        Kills.promises + Endings.promises + FullDisks.promises + Stalls.promises
        + OddFrames.promises + Sources.promises + LostStreams.promises
        + LostUnits.promises + LostCameras.promises
}

/// How thorough a run is.
struct Options: Sendable {
    /// One kill for each container instead of sixteen, and two containers instead of four.
    var isQuick = false
    /// Of the moments of the kills.
    var seed: UInt64 = 20_250_707

    var kills: Int { isQuick ? 1 : 16 }
    /// How long a recording goes on that something happens to.
    var frames: Int { isQuick ? 100 : 150 }
    /// For promises that are tried with several.
    var containers: [String] { isQuick ? ["mkv", "mp4"] : FaultSuite.containers }

    func subjects(_ isCopy: Bool) -> [Subject] {
        containers.map { Subject(container: $0, isCopy: isCopy) }
    }
}

/// What came of a promise.
struct Finding: Sendable {
    enum Verdict: Sendable { case kept, broken, skipped }
    var verdict: Verdict
    var measured: String

    /// - Parameter complaints: What is not as it should be; none: the promise is kept.
    init(_ measured: String, complaints: [String] = []) {
        verdict = complaints.isEmpty ? .kept : .broken
        self.measured = complaints.isEmpty ? measured : complaints.joined(separator: "; ")
    }

    static func skipped(_ reason: String) -> Finding {
        var finding = Finding(reason)
        finding.verdict = .skipped
        return finding
    }
}

/// Collects what is not as it should be.
struct Complaints {
    private(set) var all: [String] = []

    mutating func expect(_ isTrue: Bool, _ complaint: @autoclosure () -> String) {
        if !isTrue { all.append(complaint()) }
    }

    /// The second output of a recording went on whatever happened to the file. Each of its frames is written or
    /// counted as evicted; only `make faults` limits how many a busy machine evicts.
    mutating func expectPreview(_ options: Options, in report: VictimReport) {
        let frames = options.frames
        let count = report.preview + report.previewEvicted
        expect(
            count >= frames - 1 && report.preview >= (options.isQuick ? 1 : frames * 3 / 4),
            "the preview had \(report.preview) frames of \(frames), \(report.previewEvicted) evicted"
        )
    }

    /// A stop ends within so many seconds. Only `make faults` measures it; a quick run ends a hang.
    mutating func expectStop(within limit: Double = 5, _ options: Options, _ report: VictimReport) {
        expect(
            options.isQuick || report.stopSeconds < limit,
            "stop took \(report.stopSeconds.text) s, more than \(limit.text) s")
    }
}

/// What kept a promise from being tried.
struct Trouble: Error, CustomStringConvertible {
    let description: String
}
