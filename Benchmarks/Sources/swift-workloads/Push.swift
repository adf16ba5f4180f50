import Foundation
import MediaBridge

let picture = VideoFormat(.i420, width: 1920, height: 1080, frameRate: .init(30, 1))

/// Pushes frames whose memory the program keeps, or that it fills each time.
func push(copies: Bool, count: Int) async throws {
    let sink = try PipelineVideoSink("fakesink sync=false async=false")
    let bytes = UnsafeMutableRawBufferPointer.allocate(
        byteCount: 1920 * 1080 * 3 / 2, alignment: 64)
    defer { bytes.deallocate() }
    bytes.initializeMemory(as: UInt8.self, repeating: 128)
    for index in 0..<count {
        let time = MediaTime(value: Int64(index), timescale: 30)
        let frame =
            copies
            ? try filled(from: bytes, at: time)
            : try VideoFrame(unsafeNoCopy: bytes, format: picture, runningTime: time) {}
        try await sink.write(frame)
    }
    let report = try await sink.finish()
    precondition(report.frames == count, "\(report.frames) of \(count) were written")
}

private func filled(
    from bytes: UnsafeMutableRawBufferPointer, at time: MediaTime
) throws -> VideoFrame {
    var frame = try VideoFrame(picture, runningTime: time)
    try frame.withMutablePlanes { planes in
        var offset = 0
        for index in 0..<planes.count {
            planes[index].withUnsafeMutableBytes { plane in
                plane.copyMemory(
                    from: UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + plane.count]))
                offset += plane.count
            }
        }
    }
    return frame
}
