import CMediaBridge
import MediaCore
import TestSupport
import Testing

@testable import GStreamerKit
@testable import MediaBridge

/// Frames of which the buffer marks a part as visible.
@Suite(.hangGuard) struct FrameCropperTests {
    @Test func cropsAFrameToItsVisiblePart() throws {
        let layout = FrameLayout(try VideoInfo(format: "I420", width: 64, height: 48))
        let luma = (0..<48).flatMap { row in (0..<64).map { UInt8(row + $0) } }
        guard let buffer = Buffer.copying(luma + [UInt8](repeating: 128, count: 64 * 48 / 2)) else {
            throw FrameError(.outOfMemory, "no memory")
        }
        let isCut = cuts(buffer, layout)
        #expect(!isCut)
        mark(buffer, x: 8, y: 4, width: 32, height: 16)
        guard let part = FrameCropper().visiblePart(of: buffer, layout) else {
            throw FrameError(.outOfMemory, "the frame was not cut")
        }
        let frame = VideoFrame(part, runningTime: nil)
        #expect(frame.format.width == 32 && frame.format.height == 16)
        try frame.withPlanes { planes in
            let (first, last) = (planes[0].row(0)[0], planes[0].row(15)[31])
            #expect(first == 12 && last == 4 + 15 + 8 + 31, "\(first), \(last)")
        }
    }

    /// A part outside of the frame is not trusted.
    @Test func keepsTheFrameIfTheVisiblePartIsOutsideIt() throws {
        let layout = FrameLayout(try VideoInfo(format: "I420", width: 64, height: 48))
        guard let buffer = Buffer.copying([UInt8](repeating: 0, count: 64 * 48 * 3 / 2)) else {
            throw FrameError(.outOfMemory, "no memory")
        }
        mark(buffer, x: 40, y: 0, width: 32, height: 16)
        let isCut = cuts(buffer, layout)
        #expect(!isCut)
    }

    /// Returns whether a buffer is cut.
    private func cuts(_ buffer: borrowing Buffer, _ layout: FrameLayout) -> Bool {
        if let _ = FrameCropper().visiblePart(of: buffer, layout) { true } else { false }
    }

    private func mark(
        _ buffer: borrowing Buffer, x: UInt32, y: UInt32, width: UInt32, height: UInt32
    ) {
        gst_buffer_add_meta(buffer.pointer, gst_video_crop_meta_get_info(), nil)
        guard let meta = mb_video_crop(buffer.pointer) else { return }
        (meta.pointee.x, meta.pointee.y) = (x, y)
        (meta.pointee.width, meta.pointee.height) = (width, height)
    }
}
