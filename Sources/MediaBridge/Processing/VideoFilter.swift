/// A filter of pictures: removes the colours, mirrors or rotates. The pixel format does not change.
///
/// ```swift
/// plan.processors = [VideoFilter.grayscale, VideoFilter.rotation(.rotation90)]
/// ```
///
/// A filter keeps memory for its results, which its copies share. Each use of a member below creates a
/// filter with memory of its own.
public struct VideoFilter: VideoProcessor, Sendable {
    private let processor: any VideoProcessor & Sendable

    /// Removes the colours.
    ///
    /// In YUV formats the luma bytes stay unchanged and chroma becomes neutral. In RGB formats every
    /// channel becomes the luminance (BT.601 weights). Formats whose samples are packed across bytes, and
    /// RGB formats without four bytes per pixel, are converted to 16-bit YUV and back.
    public static var grayscale: VideoFilter { VideoFilter(processor: GrayscaleFilter()) }

    /// Swaps left and right.
    public static var mirror: VideoFilter { VideoFilter(processor: FlipFilter()) }

    /// Turns pictures clockwise; `upright` does not change them.
    public static func rotation(_ rotation: VideoRotation) -> VideoFilter {
        VideoFilter(processor: FlipFilter(rotation: rotation))
    }

    /// Returns the filtered frame. Thread: any.
    ///
    /// - Throws: If the pixel format is unknown or cannot be converted.
    public func process(_ frame: consuming VideoFrame) throws -> VideoFrame? {
        // The frame is moved, not copied: a filter writes in place if it is the only owner.
        try processor.process(consume frame)
    }
}

// MARK: Names

extension VideoFilter {
    /// The names of all filters, as `--filter` and pipeline files use them.
    package static let names = ["grayscale", "mirror", "rotate=90|180|270"]

    /// Returns the filter that `text` names, and its stream; `nil`: all video streams. `grayscale`,
    /// `rotate=90` (degrees clockwise), `camera:mirror`.
    ///
    /// - Throws: ``PipelineError`` with ``PipelineError/Code/badValue`` for an unknown name.
    package static func named(
        _ text: String
    ) throws(PipelineError) -> (stream: String?, filter: VideoFilter) {
        guard let colon = text.firstIndex(of: ":") else { return (nil, try filter(text)) }
        return (String(text[..<colon]), try filter(String(text[text.index(after: colon)...])))
    }

    private static func filter(_ name: String) throws(PipelineError) -> VideoFilter {
        switch name {
        case "grayscale": return grayscale
        case "mirror": return mirror
        case "rotate=90": return rotation(.rotation90)
        case "rotate=180": return rotation(.rotation180)
        case "rotate=270": return rotation(.rotation270)
        default:
            throw PipelineError(
                .badValue, message: "no filter \"\(name)\"",
                advice: "one of " + names.joined(separator: ", "))
        }
    }
}
