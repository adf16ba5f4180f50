/// Turns or mirrors the picture, with GStreamer's `videoflip`; the pixel format stays.
public final class FlipFilter: VideoProcessor, Sendable {
    /// What to do with the picture.
    public enum Method: String, Sendable, CaseIterable {
        /// Left becomes right.
        case mirror = "horiz"
        /// Clockwise, by degrees.
        case rotate90 = "90r"
        case rotate180 = "180"
        case rotate270 = "90l"
    }
    private let converter = FrameConverter()
    private let conversion: VideoConversion

    public init(_ method: Method) {
        switch method {
        case .mirror: conversion = VideoConversion(isMirrored: true)
        case .rotate90: conversion = VideoConversion(rotation: .rotation90)
        case .rotate180: conversion = VideoConversion(rotation: .rotation180)
        case .rotate270: conversion = VideoConversion(rotation: .rotation270)
        }
    }

    public func process(_ frame: consuming VideoFrame) throws -> VideoFrame? {
        try converter.convert(frame, to: conversion)
    }
}
