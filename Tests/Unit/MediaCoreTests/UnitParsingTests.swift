import Synchronization
import Testing

@testable import MediaCore

/// The headers of an encoded unit are parsed once, however many receivers ask.
struct UnitParsingTests {
    @Test func copiesOfAUnitAreParsedOnce() {
        let storage = CountedStorage([0, 0, 0, 1, 0x65, 0x88])
        let unit = EncodedVideoFrame(.h264, storage, runningTime: .zero)
        let viewers = (0..<12).map { _ in unit }
        for viewer in viewers {
            #expect(viewer.references == .none)
            #expect(viewer.isKeyFrame)
        }
        #expect(storage.reads.load(ordering: .relaxed) == 1)
    }

    @Test func aUnitWithOtherBytesIsParsedAgain() {
        var unit = EncodedVideoFrame(
            .h264, CountedStorage([0, 0, 0, 1, 0x65, 0x88]), runningTime: .zero)
        let key = unit
        #expect(unit.references == .none)
        unit.bytes = [0, 0, 0, 1, 0x41, 0x9a]
        #expect(unit.references == .unitsBefore)
        #expect(key.references == .none)
        unit.codec = .vp8
        #expect(unit.references == .none)
    }

    /// Bytes that count how often they are read.
    private final class CountedStorage: EncodedStorage {
        let reads = Atomic<Int>(0)
        private let bytes: [UInt8]

        init(_ bytes: [UInt8]) { self.bytes = bytes }

        var byteCount: Int { bytes.count }
        var codecData: [UInt8]? { nil }
        var size: VideoSize? { nil }
        var isKeyFrame: Bool? { nil }

        func read(_ body: (UnsafeRawBufferPointer) -> Void) {
            reads.add(1, ordering: .relaxed)
            bytes.withUnsafeBytes { body($0) }
        }
    }
}
