import MediaCore
import Testing

@Suite struct AudioFrameTests {
    private func ramp(_ count: Int = 8, at time: MediaTime? = .zero) throws -> AudioFrame {
        try AudioFrame(
            copying: (0..<count * 2).map { Int16($0) }, sampleRate: 8000, channels: 2,
            runningTime: time)
    }

    private func address(_ frame: AudioFrame) throws -> UInt {
        try frame.withBytes { $0.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) } }
    }

    @Test func frameHasADuration() throws {
        let frame = try ramp(800, at: MediaTime(seconds: 1))
        #expect(frame.sampleCount == 800)
        #expect(frame.duration == MediaTime(seconds: 0.1))
        #expect(frame.runningTime.map { $0 + frame.duration } == MediaTime(seconds: 1.1))
    }

    @Test func partsShareTheMemoryAndKeepTheTime() throws {
        let frame = try ramp()
        let rest = frame.dropFirst(4)
        #expect(rest.sampleCount == 4)
        #expect(rest.runningTime == MediaTime(value: 4, timescale: 8000))
        #expect(try address(rest) == address(frame) + 16)
        let middle = rest.prefix(2)
        #expect(try middle.channel(1, as: Int16.self) == [9, 11])
        #expect(frame.dropFirst(100).sampleCount == 0)
        #expect(frame.prefix(100).sampleCount == 8)
    }

    @Test func writingAnUnsharedFrameCopiesNothing() throws {
        var frame = try ramp()
        let before = try address(frame)
        try frame.withMutableSamples(as: Int16.self) { $0[0] = 77 }
        #expect(try address(frame) == before)
        #expect(try frame.channel(0, as: Int16.self).first == 77)
    }

    @Test func writingASharedPartCopiesOnlyThatPart() throws {
        let frame = try ramp()
        var part = frame.dropFirst(6)
        try part.withMutableSamples(as: Int16.self) { samples in
            #expect(samples.count == 4)
            samples[0] = 77
        }
        #expect(part.storage.sampleCount == 2)
        #expect(try part.channel(0, as: Int16.self) == [77, 14])
        #expect(try frame.channel(0, as: Int16.self) == [0, 2, 4, 6, 8, 10, 12, 14])
    }

    @Test func samplesOfAnotherTypeAreRefused() throws {
        let frame = try ramp()
        #expect {
            try frame.withSamples(as: Float.self) { $0.count }
        } throws: {
            ($0 as? FrameError)?.code == .badFormat
        }
        #expect(throws: FrameError.self) { try frame.withBytes(plane: 1) { $0.byteCount } }
    }

    @Test func planarChannelsAreInSeparatePlanes() throws {
        let format = AudioFormat(.f32le, sampleRate: 8000, channels: 2, isPlanar: true)
        var frame = try AudioFrame(silence: format, sampleCount: 4, runningTime: nil)
        try frame.withMutableSamples(as: Float.self, plane: 1) { $0[2] = 0.5 }
        #expect(try frame.channel(0, as: Float.self) == [0, 0, 0, 0])
        #expect(try frame.dropFirst(1).channel(1, as: Float.self) == [0, 0.5, 0])
    }

    @Test(arguments: [
        ("U8", [0x80]), ("U16LE", [0, 0x80]), ("U16BE", [0x80, 0]), ("U18LE", [0, 0, 2]),
        ("U24_32BE", [0, 0x80, 0, 0]), ("S16LE", [0, 0]),
    ])
    func silenceIsTheMiddleOfTheRange(name: String, bytes: [UInt8]) throws {
        let format = AudioFormat(
            try #require(AudioSampleFormat(rawValue: name)), sampleRate: 8000, channels: 1)
        let frame = try AudioFrame(silence: format, sampleCount: 3, runningTime: nil)
        try frame.withBytes { span in
            let found = (0..<span.byteCount).map {
                span.unsafeLoad(fromByteOffset: $0, as: UInt8.self)
            }
            #expect(found == bytes + bytes + bytes)
        }
    }

    /// Samples of one channel in memory of the test.
    private final class LentSamples: AudioFrameStorage {
        let format: AudioFormat
        let sampleCount: Int
        let isWritable: Bool
        private let address: UInt
        private let count: Int

        init(_ memory: UnsafeMutableRawBufferPointer, _ format: AudioFormat, isWritable: Bool) {
            (self.format, self.isWritable) = (format, isWritable)
            (address, count) = (UInt(bitPattern: memory.baseAddress), memory.count)
            sampleCount = memory.count / format.sampleStride
        }

        func read(_ body: ([UnsafeMutableRawBufferPointer]) -> Void) {
            body([UnsafeMutableRawBufferPointer(start: .init(bitPattern: address), count: count)])
        }

        func write(_ body: ([UnsafeMutableRawBufferPointer]) -> Void) { read(body) }
    }

    @Test func sharedMemoryIsNeverWritten() throws {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 16, alignment: 1)
        memory.initializeMemory(as: UInt8.self, repeating: 0)
        defer { memory.deallocate() }
        let format = AudioFormat(sampleRate: 8000, channels: 1)
        var frame = AudioFrame(LentSamples(memory, format, isWritable: false), runningTime: nil)
        try frame.withMutableSamples(as: Int16.self) { $0[0] = 9 }
        #expect(try frame.channel(0, as: Int16.self).first == 9)
        #expect(memory.allSatisfy { $0 == 0 })
    }

    @Test func unalignedSamplesAreReadAndWritten() throws {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 17, alignment: 8)
        memory.initializeMemory(as: UInt8.self, repeating: 0)
        defer { memory.deallocate() }
        let odd = UnsafeMutableRawBufferPointer(rebasing: memory[1...])
        let format = AudioFormat(.f32le, sampleRate: 8000, channels: 1)
        var frame = AudioFrame(LentSamples(odd, format, isWritable: true), runningTime: nil)
        try frame.withMutableSamples(as: Float.self) { $0[1] = 0.25 }
        #expect(try frame.channel(0, as: Float.self) == [0, 0.25, 0, 0])
    }

    @Test func samplesWithoutAllChannelsAreRefused() {
        #expect(throws: FrameError.self) {
            try AudioFrame(
                copying: [Int16](repeating: 0, count: 3), sampleRate: 8000, channels: 2,
                runningTime: nil)
        }
    }
}
