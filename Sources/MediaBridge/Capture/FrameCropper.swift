internal import Synchronization

/// Cuts frames to the part that their buffer marks as visible (`GstVideoCropMeta`). Decoders attach the
/// mark although appsinks do not announce support for it.
///
/// Thread: any.
final class FrameCropper: Sendable {
    private struct Part {
        let layout: FrameLayout
        let crop: Buffer.Crop
        /// `nil` if no element can cut the format.
        let chain: ElementChain?
        /// Of the frames that come out.
        var result: FrameLayout?
    }
    private let latest = Mutex<Part?>(nil)

    /// Returns a copy of the visible part; `nil` if the frame is visible as a whole, or cannot be cut.
    func visiblePart(of buffer: borrowing Buffer, _ layout: FrameLayout) -> BufferFrameStorage? {
        let whole = Buffer.Crop(x: 0, y: 0, width: layout.info.width, height: layout.info.height)
        guard let crop = buffer.crop, crop != whole, crop.fits(whole) else { return nil }
        // videocrop adds the part of the mark to its own.
        var unmarked = buffer.retained().withOwnHeader()
        unmarked.removeCrop()
        let source = unmarked.retained()
        return latest.withLock { latest in
            if latest?.layout !== layout || latest?.crop != crop {
                let chain = try? ElementChain(
                    "videocrop left=\(crop.x) top=\(crop.y) right=\(whole.width - crop.x - crop.width) "
                        + "bottom=\(whole.height - crop.y - crop.height)")
                latest = Part(layout: layout, crop: crop, chain: chain)
            }
            guard let output = try? latest?.chain?.process(source.retained(), caps: layout.caps)
            else { return nil }
            if latest?.result?.caps.identity != output.caps.identity {
                latest?.result = VideoInfo(output.caps).map { FrameLayout($0) }
            }
            guard let result = latest?.result else { return nil }
            return BufferFrameStorage(output.buffer.retained(), result)
        }
    }
}
