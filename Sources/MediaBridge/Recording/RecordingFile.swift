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
    private let output: Output
    private let reached = Atomic<Int64>(0)
    /// How the file's sound begins.
    private let sound: SoundStart?

    /// Units that wait for the muxer at most, and how many of one stream are too many while the muxer
    /// waits for another.
    private static let depth = 256
    private static let starving = 200

    /// - Parameters:
    ///   - streams: The first unit of each stream that comes.
    init(
        _ path: String, index: Int, container: RecordingContainer,
        streams: [RecordingKind: EncodedUnit]
    ) throws(PipelineError) {
        sound = streams[.audio].map { SoundStart($0) }
        zero = streams.values.map(\.time).min() ?? .zero
        self.path = path
        self.index = index
        kinds = RecordingKind.allCases.filter { streams[$0] != nil }
        var configuration = PipelineVideoSink.Configuration()
        configuration.whenFull = .wait
        configuration.depth = Self.depth
        // Unbuffered: what the muxer wrote is with the kernel, which outlives the process.
        var text = try VariableText("filesink location=${path} buffer-mode=unbuffered async=false")
            .filled(with: ["path": path])
        text = "\(container.muxer) name=mux ! \(text)"
        for kind in kinds {
            text += " appsrc name=\(kind.name) ! mux.\(container.pad(for: kind))"
        }
        output = try Output(text, configuration: configuration)
        if container == .mp4 {
            let zero = zero
            let times = FragmentTimes(starts: streams.mapValues { $0.time - zero })
            output.pipeline.element(named: "mux")?.pad("src")?.onBox(FragmentTimes.boxes) {
                times.edit($0)
            }
        }
    }

    /// Opens the file. Blocks; on the writer's queue.
    func open() throws(PipelineError) {
        output.prepare()
        do throws(PipelineError) {
            try output.pipeline.setStateAndWait(.playing)
        } catch {
            output.close()
            output.pipeline.requestState(.null)
            throw error
        }
    }

    /// Calls `body` with the first error, on the thread that posts it.
    func onFailure(_ body: @escaping @Sendable (PipelineError) -> Void) {
        output.pipeline.onFirstError(body)
    }

    /// Hands a unit to the muxer; blocks while the disk is slow.
    ///
    /// - Returns: False where the file takes no more.
    func push(_ unit: EncodedUnit) -> Bool {
        guard let branch = output.branches[unit.kind.name] else { return false }
        relieve(branch)
        let sound = unit.kind == .audio ? sound : nil
        let disposition = branch.push(
            unit.buffer.retained(), caps: sound?.caps(of: unit) ?? unit.caps,
            time: unit.time - zero, duration: unit.duration, live: nil)
        guard disposition.isAccepted else { return false }
        reached.max((unit.end - zero).nanoseconds, ordering: .relaxed)
        return true
    }

    /// The end of the last unit. Any thread.
    var duration: MediaTime { MediaTime(nanoseconds: reached.load(ordering: .relaxed)) }

    /// Ends a stream that the muxer waits for while another one's units pile up: it would wait for ever,
    /// and nothing would be written.
    private func relieve(_ branch: OutputBranch) {
        guard branch.waitingBuffers >= Self.starving else { return }
        for (name, other) in output.branches
        where name != branch.name && other.waitingBuffers == 0 && other.isOpen {
            other.close()
            other.endOfStream()
        }
    }

    /// Whether a stream of the file was given up.
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

/// How the sound of a file begins: with the encoder's own beginning, of which a decoder leaves out what
/// the header says; or in the middle of the stream, of which it must leave out nothing.
private struct SoundStart {
    private let original: Caps
    private let continued: Caps?

    init(_ first: EncodedUnit) {
        original = first.caps
        continued = first.isFirst ? nil : first.caps.withoutOpusPreSkip()
    }

    /// What the muxer is told of a unit.
    func caps(of unit: EncodedUnit) -> Caps {
        guard let continued, unit.caps.identity == original.identity else { return unit.caps }
        return continued
    }
}
