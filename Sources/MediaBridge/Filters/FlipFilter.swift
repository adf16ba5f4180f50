/// Rotates or mirrors the picture with GStreamer's `videoflip`. The pixel format does not change.
public final class FlipFilter: VideoProcessor, Sendable {
    /// How the picture is changed. Rotations are clockwise, in degrees.
    public enum Method: String, Sendable, CaseIterable {
        /// Swaps left and right.
        case mirror = "horiz"
        /// Rotates by 90°.
        case rotate90 = "90r"
        /// Rotates by 180°.
        case rotate180 = "180"
        /// Rotates by 270°.
        case rotate270 = "90l"
    }
    private let converter = FrameConverter()
    private let conversion: VideoConversion

    /// Creates a filter for one rotation, or for the mirror.
    public init(_ method: Method) {
        switch method {
        case .mirror: conversion = VideoConversion(isMirrored: true)
        case .rotate90: conversion = VideoConversion(rotation: .rotation90)
        case .rotate180: conversion = VideoConversion(rotation: .rotation180)
        case .rotate270: conversion = VideoConversion(rotation: .rotation270)
        }
    }

    /// Returns the rotated or mirrored frame. Thread: any.
    ///
    /// - Throws: If the pixel format is unknown or cannot be converted.
    public func process(_ frame: consuming VideoFrame) throws -> VideoFrame? {
        try converter.convert(frame, to: conversion)
    }
}
