/// A frame's samples in a GstBuffer.
final class BufferAudioStorage: AudioFrameStorage {
    let buffer: Buffer
    let layout: AudioFrameLayout
    let sampleCount: Int

    init(_ buffer: consuming Buffer, _ layout: AudioFrameLayout) {
        sampleCount = buffer.audioSampleCount(layout.info)
        self.buffer = buffer
        self.layout = layout
    }

    var format: AudioFormat { layout.format }

    var isWritable: Bool { buffer.isWritable }

    func read(_ body: (borrowing AudioPlanes) -> Void) throws(FrameError) {
        let mapped = try map(.read)
        body(AudioPlanes(unsafe: mapped.planes))
    }

    func write(_ body: (borrowing AudioPlanes) -> Void) throws(FrameError) {
        // A gap flag marks silence; samples that are written may not be silent.
        buffer.clearGapFlag()
        let mapped = try map(.write)
        body(AudioPlanes(unsafe: mapped.planes))
    }

    func copy(_ samples: Range<Int>) throws(FrameError) -> any AudioFrameStorage {
        try MemoryAudioStorage(copying: self, samples: samples)
    }

    private func map(_ access: MappedAudioBuffer.Access) throws(FrameError) -> MappedAudioBuffer {
        guard let mapped = MappedAudioBuffer(buffer, layout.info, access) else {
            throw FrameError(
                .notMappable,
                "the \(buffer.byteCount) bytes of this buffer cannot be mapped as \(format)")
        }
        return mapped
    }
}
