/// Removes the colours of the picture: see ``VideoFilter/grayscale``.
final class GrayscaleFilter: VideoProcessor, Sendable {
    private let converter = FrameConverter()
    private let pool = FramePool()

    /// Returns the frame without its colours.
    func process(_ frame: consuming VideoFrame) throws -> VideoFrame? {
        var result = frame
        let info = try Self.info(of: result)
        if info.colorFamily == .gray { return result }
        guard let recipe = GrayscaleRecipe(info) else { return try convert(result, info) }
        // One pass, into memory that is used again, instead of a copy that is then changed.
        if !result.isSoleOwner, var copy = try pool.frame(like: result) {
            try result.withPlanes { source in
                try copy.withMutablePlanes { recipe.apply(from: source, to: &$0) }
            }
            return copy
        }
        try result.withMutablePlanes { recipe.apply(to: &$0) }
        return result
    }

    private static func info(of frame: VideoFrame) throws -> VideoInfo {
        if let storage = frame.storage as? BufferFrameStorage { return storage.layout.info }
        return try FrameLayout.of(frame.format).info
    }

    /// Converts the frame to a format that a recipe exists for, filters it, and converts it back.
    private func convert(_ frame: VideoFrame, _ info: VideoInfo) throws -> VideoFrame? {
        let back = VideoConversion(pixelFormat: VideoPixelFormat(rawValue: info.format))
        let plain = try converter.convert(frame, to: VideoConversion(pixelFormat: "AYUV64"))
        return try process(plain).map { try converter.convert($0, to: back) }
    }
}

/// How the samples of one pixel format are changed so that the picture has no colours.
private enum GrayscaleRecipe {
    /// Chroma samples get the middle of their range.
    case neutralChroma([VideoInfo.Component], littleEndian: Bool)
    /// Every channel gets the luminance.
    case luminance(PixelWords)

    /// Returns `nil` for formats whose samples do not occupy whole bytes or 16-bit words, and for RGB
    /// formats without four bytes per pixel.
    init?(_ info: VideoInfo) {
        let components = Array(info.components.prefix(3))
        guard components.count == 3, !info.isComplex,
            components.allSatisfy({ $0.pixelStride > 0 })
        else { return nil }
        let isBytes = components.allSatisfy { $0.depth == 8 && $0.shift == 0 }
        let isWords = components.allSatisfy {
            $0.depth > 8 && $0.depth + $0.shift <= 16 && $0.pixelStride % 2 == 0
        }
        switch info.colorFamily {
        case .yuv where isBytes || isWords:
            self = .neutralChroma(
                Array(components.dropFirst()), littleEndian: info.isLittleEndian)
        case .rgb where isBytes:
            guard let words = PixelWords(components) else { return nil }
            self = .luminance(words)
        default: return nil
        }
    }

    /// Changes a picture in place.
    func apply(to planes: inout MutableVideoPlanes) {
        switch self {
        case .neutralChroma(let chroma, let littleEndian):
            neutralize(&planes, chroma, littleEndian)
        case .luminance(let words): words.level(&planes)
        }
    }

    /// Writes the changed picture to other planes of the same format.
    func apply(from source: borrowing VideoPlanes, to planes: inout MutableVideoPlanes) {
        if case .luminance(let words) = self {
            words.level(from: source, to: &planes)
            return planes.clearPadding(0)
        }
        for index in 0..<planes.count {
            if replaces(index) { planes.clearPadding(index) } else { planes.copy(index, source) }
        }
        apply(to: &planes)
    }

    /// Whether every byte of a plane is a chroma sample of one byte.
    private func replaces(_ plane: Int) -> Bool {
        guard case .neutralChroma(let chroma, _) = self else { return false }
        let own = chroma.filter { $0.plane == plane }
        return !own.isEmpty && own.allSatisfy { $0.depth == 8 && $0.pixelStride == own.count }
    }

    // MARK: Chroma

    private func neutralize(
        _ planes: inout MutableVideoPlanes, _ chroma: [VideoInfo.Component], _ littleEndian: Bool
    ) {
        for index in 0..<planes.count where replaces(index) {
            let plane = planes[index]
            // Row by row: what lies between two rows may belong to another plane.
            for y in 0..<plane.rows {
                var row = plane.row(y)
                row.withUnsafeMutableBytes {
                    _ = $0.initializeMemory(as: UInt8.self, repeating: 128)
                }
            }
        }
        for component in chroma where !replaces(component.plane) {
            neutralize(&planes, component, littleEndian)
        }
    }

    private func neutralize(
        _ planes: inout MutableVideoPlanes, _ component: VideoInfo.Component, _ littleEndian: Bool
    ) {
        let plane = planes[component.plane]
        let layout = plane.layout
        plane.withUnsafeMutableBytes { bytes in
            let isWord = component.depth > 8
            let middle = UInt16(1) << (component.depth - 1 + component.shift)
            let word = littleEndian ? middle.littleEndian : middle.bigEndian
            for y in 0..<layout.rows {
                let row = y * layout.stride
                var at = row + component.offset
                let end = min(row + layout.stride, bytes.count) - (isWord ? 1 : 0)
                while at < end {
                    if isWord {
                        bytes.storeBytes(of: word, toByteOffset: at, as: UInt16.self)
                    } else {
                        bytes[at] = 128
                    }
                    at += component.pixelStride
                }
            }
        }
    }

    // MARK: Luminance

    /// A format of four bytes per pixel, whose pixels are changed as words of 32 bits, so that the
    /// compiler can use vector instructions.
    struct PixelWords {
        private let red: UInt32
        private let green: UInt32
        private let blue: UInt32
        private let kept: UInt32

        /// Returns `nil` for any other format.
        init?(_ channels: [VideoInfo.Component]) {
            guard channels.allSatisfy({ $0.plane == 0 && $0.pixelStride == 4 && $0.offset < 4 })
            else { return nil }
            let shifts = channels.map { UInt32($0.offset * 8) }
            (red, green, blue) = (shifts[0], shifts[1], shifts[2])
            kept = ~shifts.reduce(0) { $0 | 0xFF << $1 }
        }

        func level(_ planes: inout MutableVideoPlanes) {
            let plane = planes[0]
            for y in 0..<plane.rows {
                var row = plane.row(y)
                row.withUnsafeMutableBytes { row in level(UnsafeRawBufferPointer(row), row) }
            }
        }

        func level(from source: borrowing VideoPlanes, to planes: inout MutableVideoPlanes) {
            let plane = planes[0]
            let from = source[0]
            for y in 0..<min(plane.rows, from.rows) {
                var row = plane.row(y)
                row.withUnsafeMutableBytes { row in
                    from.row(y).withUnsafeBytes { level($0, row) }
                }
            }
        }

        @inline(__always)
        private func level(
            _ source: UnsafeRawBufferPointer, _ target: UnsafeMutableRawBufferPointer
        ) {
            let count = min(source.count, target.count) / 4
            guard let source = source.baseAddress, let target = target.baseAddress else { return }
            for x in 0..<count {
                let pixel = UInt32(
                    littleEndian: source.loadUnaligned(fromByteOffset: 4 * x, as: UInt32.self))
                let sum =
                    (pixel &>> red & 0xFF) &* 77 &+ (pixel &>> green & 0xFF) &* 150
                    &+ (pixel &>> blue & 0xFF) &* 29
                let level = sum &>> 8
                let result = pixel & kept | level &<< red | level &<< green | level &<< blue
                target.storeBytes(
                    of: result.littleEndian, toByteOffset: 4 * x, as: UInt32.self)
            }
        }
    }
}

extension MutableVideoPlanes {
    /// Copies one plane.
    fileprivate mutating func copy(_ index: Int, _ source: borrowing VideoPlanes) {
        let from = source[index]
        if self[index].stride != from.stride { clearPadding(index) }
        let plane = self[index]
        if plane.stride == from.stride, plane.rows == from.rows {
            return plane.withUnsafeMutableBytes { bytes in
                from.withUnsafeBytes { from in
                    bytes.copyMemory(
                        from: UnsafeRawBufferPointer(rebasing: from.prefix(bytes.count)))
                }
            }
        }
        for y in 0..<min(plane.rows, from.rows) {
            var row = plane.row(y)
            row.withUnsafeMutableBytes { row in
                from.row(y).withUnsafeBytes { from in
                    row.copyMemory(from: UnsafeRawBufferPointer(rebasing: from.prefix(row.count)))
                }
            }
        }
    }
}
