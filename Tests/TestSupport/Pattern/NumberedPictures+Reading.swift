import Foundation

extension NumberedPictures {
    /// The readings of a file's frames, in display order, as ffmpeg decodes them.
    ///
    /// - Parameter path: A file with one video stream of a constant size.
    public static func readings(of path: String) async throws -> [Reading] {
        let size = try await Tool.check(
            "ffprobe",
            [
                "-v", "error", "-select_streams", "v:0", "-show_entries", "stream=width,height",
                "-of", "csv=p=0", path,
            ])
        let numbers = size.split(whereSeparator: { !$0.isNumber }).compactMap { Int($0) }
        guard numbers.count >= 2 else {
            throw ChildProcess.Failure(description: "\(path) has no pictures")
        }
        let raw = path + ".numbered.raw"
        defer { try? FileManager.default.removeItem(atPath: raw) }
        try await Tool.check(
            "ffmpeg",
            [
                "-v", "error", "-y", "-i", path, "-map", "0:v:0", "-fps_mode", "passthrough",
                "-pix_fmt", "rgb24", "-f", "rawvideo", raw,
            ])
        let (width, height) = (numbers[0], numbers[1])
        let bytes = try Data(contentsOf: URL(filePath: raw), options: .alwaysMapped)
        let length = width * height * 3
        return bytes.withUnsafeBytes { bytes in
            stride(from: 0, through: bytes.count - length, by: length).map {
                reading(
                    UnsafeRawBufferPointer(rebasing: bytes[$0..<$0 + length]), width, height)
            }
        }
    }

    /// The reading of one picture with three bytes per pixel.
    private static func reading(
        _ pixels: UnsafeRawBufferPointer, _ width: Int, _ height: Int
    ) -> Reading {
        let (blockWidth, blockHeight, edge) = (width / 8, height / 4, 4)
        var number = 0
        for column in 0..<8 {
            let x = column * blockWidth + blockWidth / 2
            let y = 2 * blockHeight + blockHeight / 2
            number = number * 2 + (pixels[3 * (y * width + x) + 1] > 127 ? 1 : 0)
        }
        var (worst, sum, count) = (0, 0, 0)
        for block in 0..<32 {
            let (column, row) = (block % 8, block / 8)
            let wanted = colour(number, column: column, row: row)
            var y = row * blockHeight + edge
            // Plain loops, because test builds are not optimised.
            while y < (row + 1) * blockHeight - edge {
                var at = 3 * (y * width + column * blockWidth + edge)
                let end = 3 * (y * width + (column + 1) * blockWidth - edge)
                while at < end {
                    let off = abs(Int(pixels[at]) - wanted[at % 3])
                    if off > worst { worst = off }
                    sum &+= off
                    count &+= 1
                    at &+= 1
                }
                y += 1
            }
        }
        return Reading(
            number: number, worst: worst, mean: Double(sum) / Double(max(1, count)), width: width,
            height: height)
    }
}

extension Sequence<NumberedPictures.Reading> {
    /// How many pictures are missing between the first and the last, according to their numbers. A
    /// repeated number is a picture shown twice, not a missing one.
    public var leftOut: Int {
        zip(self, dropFirst()).reduce(0) {
            $0 + Swift.max(0, ($1.1.number - $1.0.number) & 255 - 1)
        }
    }
}

extension Sequence<Int> {
    /// Whether the picture numbers are in the order in which they were sent. Gaps are allowed, but
    /// a number that is up to 16 behind its predecessor is late.
    ///
    /// - Parameters:
    ///   - count: The number of distinct picture numbers before they wrap around.
    ///   - repeats: True if a picture may be shown twice.
    public func areInOrder(of count: Int = 256, repeats: Bool = true) -> Bool {
        zip(self, dropFirst()).allSatisfy {
            ((repeats ? 0 : 1)..<count - 16).contains((($1 - $0) % count + count) % count)
        }
    }
}
