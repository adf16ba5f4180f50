internal import MediaCore

/// What a renderer asked for, in so far as it decides about the pixels: equal requests share one
/// conversion.
struct RenderRequest: Hashable, Sendable {
    var pixelFormat = VideoPixelFormat.any
    var size: VideoSize?
    /// Whether a picture of another shape is cropped to the size, instead of getting borders.
    var fillsSize = false
    var isUpright = false
    /// Automatic: where the stream is that of a camera, seen by who sits before it.
    var mirror = VideoMirrorMode.disabled

    /// Whether frames may pass as they are, whatever they are.
    var isIdentity: Bool { self == RenderRequest() }

    /// What is to be done to one frame; `nil` for nothing.
    ///
    /// - Parameter isMirror: Whether the stream is a mirror by itself.
    func conversion(for frame: borrowing VideoFrame, isMirror: Bool) -> VideoConversion? {
        let format = frame.format
        var conversion = VideoConversion()
        if pixelFormat != .any, pixelFormat != format.pixelFormat {
            conversion.pixelFormat = pixelFormat
        }
        if isUpright { conversion.rotation = frame.rotation }
        conversion.isMirrored = mirror == .enabled || mirror == .automatic && isMirror
        if conversion.isMirrored, !isUpright, frame.rotation.swapsSides {
            // Left and right of the picture as it will be seen are top and bottom of it as it lies.
            conversion.rotation = .rotation180
        }
        if let size {
            // The size is meant as seen; a conversion's is that of the picture as it lies then.
            let wanted = !isUpright && frame.rotation.swapsSides ? size.turned : size
            let present = VideoSize(width: format.width, height: format.height)
            if wanted != (conversion.rotation.swapsSides ? present.turned : present) {
                conversion.size = wanted
                conversion.fillsSize = fillsSize
            }
        }
        return conversion == VideoConversion() ? nil : conversion
    }
}

extension VideoSize {
    fileprivate var turned: VideoSize { VideoSize(width: height, height: width) }
}

extension VideoRotation {
    /// Whether width and height change places.
    var swapsSides: Bool { self == .rotation90 || self == .rotation270 }
}
