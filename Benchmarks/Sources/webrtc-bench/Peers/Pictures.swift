import MediaBridge
import Synchronization

/// Frames of 640×480 whose lower half encodes the frame's number, from 0 to 255 and then from 0 again, in the
/// layout of the tests' `NumberedPictures`. The upper half moves.
struct Pictures: ~Copyable {
    static let (width, height, rate) = (640, 480, 30)
    private var drawn: [PixelBuffer]

    init() throws {
        drawn = try (0..<64).map { number in
            var picture = try PixelBuffer(
                .i420, size: VideoSize(width: Self.width, height: Self.height))
            try picture.withMutablePlanes { planes in
                for plane in 0..<planes.count { planes[plane].fill(128) }
                planes[0].withUnsafeMutableBytes { Self.drawUpperHalf(number, $0) }
            }
            return picture
        }
    }

    /// Bands that move by eight pixels per frame, with a static texture.
    private static func drawUpperHalf(_ number: Int, _ luma: UnsafeMutableRawBufferPointer) {
        let stride = luma.count / height
        for y in 0..<height / 2 {
            for x in 0..<width {
                let band = (x + 8 * number + y) & 255
                let texture = (x * 7 + y * 13) & 15
                luma[y * stride + x] = UInt8(32 + (band < 128 ? band : 255 - band) + texture)
            }
        }
    }

    /// Returns a frame with its number.
    mutating func picture(_ number: Int) throws -> PixelBuffer {
        let place = number % drawn.count
        try drawn[place].withMutablePlanes { planes in
            planes[0].withUnsafeMutableBytes { luma in
                let stride = luma.count / Self.height
                for row in 2...3 {
                    let y = row * Self.height / 4
                    for column in 0..<8 {
                        let isSet = (number >> (7 - column)) & 1 == 1
                        let value: UInt8 = isSet == (row == 2) ? 235 : 16
                        for line in y..<y + Self.height / 4 {
                            let start = line * stride + column * Self.width / 8
                            for x in start..<start + Self.width / 8 { luma[x] = value }
                        }
                    }
                }
            }
        }
        return drawn[place]
    }

    /// Returns the number of a frame.
    static func number(of frame: VideoFrame) throws -> Int {
        try frame.withPlanes { planes in
            let row = planes[0].row(frame.height * 5 / 8)
            return (0..<8).reduce(0) { number, column in
                number * 2 + (row[(2 * column + 1) * frame.width / 16] > 127 ? 1 : 0)
            }
        }
    }
}

/// Frame numbers, with the time at which each frame was sent or arrived: nanoseconds on the clock that all
/// processes of a machine share.
final class Log: Sendable {
    private let lines = Mutex<[(number: Int, time: Int64)]>([])

    static var now: Int64 { GStreamer.clockTime.nanoseconds }

    /// Notes a picture. The program reports the first one.
    func note(_ number: Int, at time: Int64 = Log.now) {
        let isFirst = lines.withLock { lines in
            lines.append((number, time))
            return lines.count == 1
        }
        if isFirst { say("first") }
    }

    /// Prints all entries.
    func print() {
        let text = lines.withLock { $0.map { "\($0.number) \($0.time)" } }
        say(text.joined(separator: "\n"))
    }
}

/// Calls `push` with each frame at its due time, until the program receives SIGTERM.
func showPictures(_ log: Log, _ push: (PixelBuffer, MediaTime) -> Void) async throws {
    let end = Ending()
    var pictures = try Pictures()
    var next = ContinuousClock.now
    for number in 0... {
        try await Task.sleep(until: next, clock: .continuous)
        if end.isRequested { break }
        next += .seconds(1) / Pictures.rate
        let picture = try pictures.picture(number & 255)
        log.note(number & 255)
        push(picture, MediaTime(value: Int64(number), timescale: Int32(Pictures.rate)))
    }
    log.print()
}
