import MediaCore
import Testing

@Suite struct VideoPlaneLayoutTests {
    @Test func rowBytesExcludePadding() {
        let plane = VideoPlaneLayout(offset: 0, stride: 64, rows: 2, width: 10, pixelStride: 4)
        #expect(plane.rowBytes == 40)
    }

    @Test func packedBitsFillTheWholeStride() {
        // v210 packs three 10-bit samples into a word: a sample does not occupy whole bytes.
        let plane = VideoPlaneLayout(
            offset: 0, stride: 128, rows: 2, width: 48, pixelStride: 0, depth: 10)
        #expect(plane.rowBytes == 128)
    }

    @Test func rowBytesNeverExceedTheStride() {
        #expect(VideoPlaneLayout(offset: 0, stride: 8, rows: 1, width: 10).rowBytes == 8)
    }

    @Test func overflowingRowWidthIsLimitedToTheStride() {
        let plane = VideoPlaneLayout(offset: 0, stride: 8, rows: 1, width: .max, pixelStride: 4)
        #expect(plane.rowBytes == 8)
    }
}
