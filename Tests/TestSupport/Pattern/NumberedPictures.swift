import Foundation

/// Pictures that contain their own number: two rows of four colours, then two rows of eight blocks
/// with the bits of the number. It counts from 0 to 255 and wraps around. The lowest row is the
/// inverse of the row above.
///
/// `browser-rig.js` and `aiortc-peer.py` read the same layout. Colours are BT.601, limited range.
public struct NumberedPictures: Sendable {
    /// The four colours, from left to right; components are red, green, blue.
    public static let colours: [[Int]] = [
        [200, 60, 40], [40, 160, 60], [50, 70, 190], [128, 128, 128],
    ]

    /// The data read from one picture.
    public struct Reading: Sendable, Decodable, Equatable {
        public var number: Int
        /// The largest difference between a colour component (red, green or blue) of a pixel and
        /// its expected value, up to 255. Pixels within four of a block's edge are ignored.
        public var worst: Int
        /// The mean difference over the components of all pixels.
        public var mean: Double
        public var width: Int
        public var height: Int
    }

    public let width: Int
    public let height: Int
    public let framesPerSecond: Int
    private let directory: TemporaryDirectory

    /// Writes all 256 pictures into files (7 MB at 160×120).
    ///
    /// - Parameters:
    ///   - width: A multiple of 16.
    ///   - height: A multiple of 8, up to 576: taller pictures are taken for BT.709.
    public init(
        in directory: TemporaryDirectory, width: Int = 160, height: Int = 120,
        framesPerSecond: Int = 10
    ) throws {
        (self.width, self.height, self.framesPerSecond) = (width, height, framesPerSecond)
        self.directory = directory
        for (number, picture) in drawn().enumerated() {
            let name = "picture\(1000 + number).i420"
            try picture.write(to: URL(filePath: directory.file(name)))
        }
    }

    /// A gst-launch string of an endless capture that delivers them at their frame rate, like a
    /// camera.
    public var source: String { source(of: 0...255) }

    /// The same for a range of numbers.
    public func source(of numbers: ClosedRange<Int>) -> String {
        "\(unpaced(numbers)) ! identity sync=true"
    }

    /// The same, as fast as downstream accepts them.
    public func unpaced(_ numbers: ClosedRange<Int> = 0...255) -> String {
        "multifilesrc location=\(directory.path)/picture%d.i420 "
            + "start-index=\(1000 + numbers.lowerBound) stop-index=\(1000 + numbers.upperBound) "
            + "loop=true ! rawvideoparse format=i420 width=\(width) height=\(height) "
            + "framerate=\(framesPerSecond)/1"
    }

    /// Writes all 256 pictures to a Y4M file, which Chromium can use as a camera.
    ///
    /// - Returns: The path.
    public func writeFilm(named name: String = "camera.y4m") throws -> String {
        var film = Data(
            "YUV4MPEG2 W\(width) H\(height) F\(framesPerSecond):1 Ip A1:1 C420jpeg\n".utf8)
        for picture in drawn() {
            film += Data("FRAME\n".utf8)
            film += picture
        }
        try film.write(to: URL(filePath: directory.file(name)))
        return directory.file(name)
    }

    /// The samples of each picture. Few calls with many bytes each, because test builds are not
    /// optimised.
    private func drawn() -> [Data] {
        let head = row(0, 0, of: 0) + row(0, 1, of: 0)
        // Black and white have no chroma.
        let tail = (1...2).flatMap { plane in (0..<4).map { row(plane, $0, of: 0) } }
            .reduce(Data(), +)
        // The lowest row equals the row above it in the picture whose bits are all inverted.
        let bits = (0..<256).map { row(0, 2, of: $0) }
        return (0..<256).map { head + bits[$0] + bits[255 - $0] + tail }
    }

    /// The samples of one plane of one row of blocks.
    private func row(_ plane: Int, _ row: Int, of number: Int) -> Data {
        let shift = plane == 0 ? 0 : 1
        var bytes = Data()
        for column in 0..<8 {
            let sample = Self.sample(plane, of: Self.colour(number, column: column, row: row))
            bytes += Data(repeating: sample, count: (width / 8) >> shift)
        }
        let size = bytes.count * ((height / 4) >> shift)
        while bytes.count < size { bytes += bytes.prefix(size - bytes.count) }
        return bytes
    }

    /// The colour of one of the 8 × 4 blocks.
    static func colour(_ number: Int, column: Int, row: Int) -> [Int] {
        if row < 2 { return colours[column / 2] }
        let isSet = (number >> (7 - column)) & 1 == 1
        return [Int](repeating: isSet == (row == 2) ? 255 : 0, count: 3)
    }

    private static func sample(_ plane: Int, of colour: [Int]) -> UInt8 {
        let rgb = colour.map(Double.init)
        let luma = 0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2]
        let value =
            switch plane {
            case 0: 16 + luma * 219 / 255
            case 1: 128 + (rgb[2] - luma) / 1.772 * 224 / 255
            default: 128 + (rgb[0] - luma) / 1.402 * 224 / 255
            }
        return UInt8(value.rounded())
    }
}
