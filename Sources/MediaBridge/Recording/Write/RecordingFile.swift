internal import Synchronization

/// One file of a recording: a muxer and a file sink in a pipeline of their own.
///
/// Its times begin at zero. Used by the writer alone, except for what says otherwise.
final class RecordingFile: Sendable {
    let path: String
    let kinds: [RecordingKind]
    /// What is zero in the file.
    let zero: MediaTime
    let index: Int
    let container: RecordingContainer
    private let output: Output
    private let reached = Atomic<Int64>(0)
    /// What the muxer is told of each stream, once: the header cannot change.
    private let formats: [RecordingKind: Format]
    private let tags: [RecordingKind: Tags]

    /// Units that wait for the muxer at most, and how many of one stream are too many while the muxer
    /// waits for another.
    private static let depth = 256
    private static let starving = 200

    /// - Parameters:
    ///   - streams: The first unit of each stream that comes.
    ///   - tags: What each stream says of itself.
    init(
        _ path: String, index: Int, container: RecordingContainer,
        streams: [RecordingKind: EncodedUnit], tags: [RecordingKind: Tags] = [:]
    ) throws(PipelineError) {
        self.tags = tags
        formats = streams.mapValues { Format($0) }
        zero = streams.values.map(\.time).min() ?? .zero
        self.path = path
        self.index = index
        self.container = container
        kinds = RecordingKind.allCases.filter { streams[$0] != nil }
        var configuration = PipelineVideoSink.Configuration()
        configuration.whenFull = .wait
        configuration.depth = Self.depth
        // Unbuffered: what the muxer wrote is with the kernel, which outlives the process.
        var text = try VariableText("filesink location=${path} buffer-mode=unbuffered async=false")
            .filled(with: ["path": path])
        let zero = zero
        let starts = streams.mapValues { $0.time - zero }
        text = "\(container.muxer(starts: starts)) name=mux ! \(text)"
        for kind in kinds {
            text += " appsrc name=\(kind.name) ! mux.\(container.pad(for: kind))"
        }
        output = try Output(text, configuration: configuration)
        if container == .mp4 {
            let header = FragmentHeader(starts: starts)
            output.pipeline.element(named: "mux")?.pad("src")?.onBox(FragmentHeader.boxes) {
                header.edit($0)
            }
        }
    }

    /// Opens the file. Blocks; on the writer's queue.
    func open() throws(PipelineError) {
        output.prepare()
        do throws(PipelineError) {
            for (kind, tags) in tags { take(tags, of: kind) }
            try output.pipeline.setStateAndWait(.playing)
        } catch {
            output.close()
            output.pipeline.requestState(.null)
            throw error
        }
    }

    /// Tells the muxer what a stream says of itself.
    func take(_ tags: Tags, of kind: RecordingKind) { output.branches[kind.name]?.take(tags) }

    /// Calls `body` with the first error, on the thread that posts it.
    func onFailure(_ body: @escaping @Sendable (PipelineError) -> Void) {
        output.pipeline.onFirstError(body)
    }

    /// Whether the file's header tells the truth of a unit: what does not fit belongs into another file,
    /// whatever made it change.
    func holds(_ unit: EncodedUnit) -> Bool { formats[unit.kind]?.includes(unit) ?? false }

    /// Hands a unit to the muxer; blocks while the disk is slow.
    ///
    /// - Returns: False where the file takes no more, or does not hold such a unit.
    func push(_ unit: EncodedUnit) -> Bool {
        guard let branch = output.branches[unit.kind.name], let format = formats[unit.kind],
            format.includes(unit)
        else { return false }
        let disposition = branch.push(
            unit.buffer.retained(), caps: format.told, time: unit.time - zero,
            duration: unit.duration, live: nil)
        guard disposition.isAccepted else { return false }
        reached.max((unit.end - zero).nanoseconds, ordering: .relaxed)
        return true
    }

    /// The end of the last unit. Any thread.
    var duration: MediaTime { MediaTime(nanoseconds: reached.load(ordering: .relaxed)) }

    /// The streams that the muxer waits for while units of another pile up, until it takes no more.
    func starving(beside kind: RecordingKind) -> [RecordingKind] {
        guard waiting(kind) >= Self.starving else { return [] }
        return kinds.filter { $0 != kind && waiting($0) == 0 && !isGone($0) }
    }

    /// Ends a stream before the file does.
    func end(_ kind: RecordingKind) {
        guard let branch = output.branches[kind.name], branch.isOpen else { return }
        branch.close()
        branch.endOfStream()
    }

    private func waiting(_ kind: RecordingKind) -> Int {
        output.branches[kind.name]?.waitingBuffers ?? 0
    }

    /// Whether a stream has ended before the file.
    func isGone(_ kind: RecordingKind) -> Bool {
        guard let branch = output.branches[kind.name] else { return true }
        return !branch.isOpen
    }

    /// Completes the file.
    ///
    /// - Parameter patience: How long it may take without a unit being written.
    /// - Throws: What made it fail, now or before.
    func finish(patience: Duration, deadline: Duration) async throws(PipelineError) {
        try await output.finish(patience: patience, deadline: deadline)
    }

    /// Lets go of the writer, where it waits. Any thread.
    func abandon() { output.close() }

    /// What reached the muxer. Any thread.
    func written(_ kind: RecordingKind) -> Int {
        output.branches[kind.name]?.writtenBuffers ?? 0
    }

    /// Units of all streams that reached the muxer, and those that wait for it. Any thread.
    var writtenUnits: Int { output.branches.values.reduce(0) { $0 + $1.writtenBuffers } }
    var waitingUnits: Int { output.branches.values.reduce(0) { $0 + $1.waitingBuffers } }

    /// Bytes on the disk. Any thread.
    var byteCount: Int { FileSize.of(path) ?? 0 }
}

/// What one stream of a file is, from its first unit to its last.
private final class Format: Sendable {
    private let first: Caps
    /// What the muxer is told. Sound that begins with its encoder's own beginning: what the encoder says,
    /// so that a decoder leaves that out; sound that begins in the middle of its stream: that nothing is
    /// to be left out.
    let told: Caps
    /// The last that were compared: held, so that no other caps can have the identity.
    private let same: Mutex<Caps>

    init(_ unit: EncodedUnit) {
        first = unit.caps
        told =
            (unit.kind == .audio && !unit.isFirst ? unit.caps.withoutOpusPreSkip() : nil)
            ?? unit.caps
        same = Mutex(unit.caps)
    }

    func includes(_ unit: EncodedUnit) -> Bool {
        same.withLock { same in
            if same.identity == unit.caps.identity { return true }
            guard first.isSameStream(as: unit.caps) else { return false }
            same = unit.caps
            return true
        }
    }
}
