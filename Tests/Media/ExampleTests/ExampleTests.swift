import Foundation
import TestSupport
import Testing

/// The examples, run as commands. Other programs check the files that they write.
enum ExampleTests {}

/// Runs `bridge-examples` as a user would.
enum Example {
    /// Runs an example to its end.
    ///
    /// - Returns: The text it wrote to standard output.
    /// - Throws: An error if its exit status is not 0.
    @discardableResult
    static func run(_ arguments: String...) async throws -> String {
        try await Tool.check(program, arguments, environment: noDisplay)
    }

    /// Runs an example that should fail.
    static func fail(_ arguments: String...) async throws -> ChildProcess.Result {
        try await Tool.run(program, arguments, environment: noDisplay)
    }

    static var program: String { get throws { try Tool.built("bridge-examples") } }

    /// Without a display, the tests cannot record the screen of the machine they run on.
    static let noDisplay = ["DISPLAY": ""]

    /// A finite capture of 30 frames by default, identical on every run.
    static func film(
        _ pattern: String, _ size: String = "width=320,height=240", frames: Int = 30
    ) -> String {
        "videotestsrc num-buffers=\(frames) pattern=\(pattern) ! \(caps(size))"
    }

    /// An endless capture.
    static func camera(_ pattern: String, _ size: String = "width=320,height=240") -> String {
        "videotestsrc is-live=true pattern=\(pattern) ! \(caps(size))"
    }

    private static func caps(_ size: String) -> String {
        "video/x-raw,format=I420,\(size),framerate=30/1"
    }
}

/// Raw I420 in a file, as the examples and gst-launch-1.0 write it.
struct RawFilm {
    let width: Int
    let height: Int
    let bytes: [UInt8]

    init(_ path: String, width: Int = 320, height: Int = 240) throws {
        (self.width, self.height) = (width, height)
        bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
    }

    /// The frames that gst-launch-1.0 writes for a capture string.
    init(of capture: String, in directory: TemporaryDirectory) async throws {
        let path = directory.file("reference.yuv")
        let words =
            "\(capture) ! videoconvert ! video/x-raw,format=I420 ! filesink location=\(path)"
        try await Tool.check(
            "gst-launch-1.0", ["-q"] + words.split(separator: " ").map(String.init))
        try self.init(path)
    }

    private var pictureSize: Int { width * height * 3 / 2 }

    var frames: Int { bytes.count / pictureSize }

    func luma(_ frame: Int) -> ArraySlice<UInt8> {
        bytes[(frame * pictureSize)...].prefix(width * height)
    }

    /// The indices at which this film contains the frames of `other`, in order and each once. The
    /// list ends before the first frame that is not found.
    ///
    /// - Parameter isSame: Compares the luma of a frame of this film with one of `other`.
    func places(
        of other: RawFilm, isSame: (ArraySlice<UInt8>, ArraySlice<UInt8>) -> Bool
    ) -> [Int] {
        var places: [Int] = []
        for frame in 0..<other.frames {
            let first = (places.last ?? -1) + 1
            let place = (first..<max(first, frames)).first {
                isSame(luma($0), other.luma(frame))
            }
            guard let place else { break }
            places.append(place)
        }
        return places
    }

    /// The U plane, followed by the V plane.
    func chroma(_ frame: Int) -> ArraySlice<UInt8> {
        bytes[(frame * pictureSize)...].prefix(pictureSize).dropFirst(width * height)
    }
}
