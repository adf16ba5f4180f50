internal import MediaCore

/// What a renderer asked for, in so far as it decides about the pixels: equal requests share one
/// conversion.
struct RenderRequest: Hashable, Sendable {
    var pixelFormat = VideoPixelFormat.any
    var size: VideoSize?
    var isUpright = false
    var isMirrored = false

    /// Whether frames may pass as they are, whatever they are.
    var isNothing: Bool { self == RenderRequest() }

    /// What is to be done to one frame; `nil` for nothing.
    func conversion(for frame: borrowing VideoFrame) -> VideoConversion? {
        let format = frame.format
        var conversion = VideoConversion()
        if pixelFormat != .any, pixelFormat != format.pixelFormat {
            conversion.pixelFormat = pixelFormat
        }
        if isUpright { conversion.rotation = frame.rotation }
        conversion.isMirrored = isMirrored
        if isMirrored, !isUpright, frame.rotation == .rotation90 || frame.rotation == .rotation270 {
            // Left and right of the picture as it will be seen are top and bottom of it as it lies.
            conversion.rotation = .rotation180
        }
        if let size {
            let turns = !isUpright && frame.rotation.swapsSides
            let wanted = turns ? VideoSize(width: size.height, height: size.width) : size
            if wanted != VideoSize(width: format.width, height: format.height) {
                conversion.size = wanted
            }
        }
        return conversion == VideoConversion() ? nil : conversion
    }
}

extension VideoRotation {
    /// Whether width and height change places.
    var swapsSides: Bool { self == .rotation90 || self == .rotation270 }
}
