import Foundation

extension NumberedPictures {
    /// What the pictures of a file say, in the order in which they are shown, as ffmpeg decodes them.
    ///
    /// - Parameter path: A file with one video of one size.
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

    /// What one picture of three bytes a pixel says.
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
            // Plain loops: builds for tests optimise nothing.
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
    /// How many pictures were left out between the first and the last, told by their numbers; a number that
    /// does not change is a picture shown twice, and none left out.
    public var leftOut: Int {
        zip(self, dropFirst()).reduce(0) {
            $0 + Swift.max(0, ($1.1.number - $1.0.number) & 255 - 1)
        }
    }
}

extension Sequence<Int> {
    /// Whether the numbers of pictures are in the order in which they were sent. Any number of pictures but
    /// the last 16 of a round may be missing between two: what is up to 16 behind has come too late.
    ///
    /// - Parameters:
    ///   - count: How many numbers there are before they begin again.
    ///   - repeats: True if a picture may be shown twice.
    public func areInOrder(of count: Int = 256, repeats: Bool = true) -> Bool {
        zip(self, dropFirst()).allSatisfy {
            ((repeats ? 0 : 1)..<count - 16).contains((($1 - $0) % count + count) % count)
        }
    }
}
