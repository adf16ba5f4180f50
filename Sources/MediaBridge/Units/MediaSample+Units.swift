/// A buffer of a pipeline as the memory of a unit: no byte is copied.
extension MediaSample: EncodedVideoStorage {
    var byteCount: Int { buffer.byteCount }

    var codecData: [UInt8]? { caps.codecData }

    var size: VideoSize? {
        caps.pictureSize.map { VideoSize(width: $0.width, height: $0.height) }
    }

    var isKeyFrame: Bool? { !buffer.isDelta }

    func read(_ body: (UnsafeRawBufferPointer) -> Void) throws(FrameError) {
        guard let mapped = MappedBuffer(buffer) else {
            throw FrameError(
                .notMappable, "the \(byteCount) bytes of an encoded frame cannot be mapped")
        }
        mapped.bytes.withUnsafeBytes { body($0) }
    }

    /// The largest unit of a program, in bytes: more than any camera gives.
    private static let mostBytes = 8_000_000

    /// The presentation time in the buffer of a unit whose times are the program's: late enough that
    /// no decoding time is negative. An output replaces both by what the sample says.
    private static let presentation = MediaTime(nanoseconds: 3_600_000_000_000)

    /// The times of a unit, as its handle says.
    struct Times: Equatable {
        var running: MediaTime?
        var decoding: MediaTime?
        var duration: MediaTime?
        var live: LiveTiming?
    }

    var times: Times {
        let shift = buffer.presentationTime.flatMap { presented in
            runningTime.map { $0 - MediaTime(presented) }
        }
        return Times(
            running: runningTime,
            decoding: buffer.decodingTime.flatMap { decoded in
                shift.map { MediaTime(decoded) + $0 }
            },
            duration: buffer.duration.map { MediaTime($0) }, live: liveTiming)
    }

    /// Returns a unit as a sample. A unit that came from a pipeline keeps its buffer; one in the
    /// program's memory is copied, since it is small.
    ///
    /// - Parameters:
    ///   - caps: Returns the caps of units whose bytes come from the program.
    ///   - isDelta: Whether such a unit refers to others.
    /// - Throws: ``FrameError`` if there is no memory, and for a unit of the program's that is empty
    ///   or too large; what `caps` throws.
    static func of(
        _ storage: any EncodedStorage, _ times: Times, isDelta: @autoclosure () -> Bool = false,
        caps: () throws -> Caps
    ) throws -> MediaSample {
        if let sample = storage as? MediaSample {
            guard sample.times != times else { return sample }
            return sample.with(times)
        }
        let count = storage.byteCount
        guard (1...mostBytes).contains(count) else {
            throw FrameError(
                .badFormat, "an encoded frame of \(count) bytes: 1 to \(mostBytes) are allowed")
        }
        var copy: Buffer?
        try storage.read { copy = Buffer.copying($0) }
        guard var buffer = copy.take() else {
            throw FrameError(.outOfMemory, "cannot allocate \(count) bytes for an encoded frame")
        }
        if isDelta() { buffer.markDelta() }
        return MediaSample(
            buffer, caps: try caps(), audioLayout: nil, runningTime: nil, liveTiming: nil
        ).with(times)
    }

    private func with(_ times: Times) -> MediaSample {
        var buffer = self.buffer.retained().withOwnHeader()
        buffer.presentationTime = times.running.flatMap { _ in ClockTime(Self.presentation) }
        buffer.decodingTime = times.decoding.flatMap { decoding in
            times.running.flatMap { ClockTime(Self.presentation + decoding - $0) }
        }
        buffer.duration = times.duration.flatMap { ClockTime($0) }
        return MediaSample(
            buffer, caps: caps, audioLayout: nil, runningTime: times.running, liveTiming: times.live
        )
    }
}
