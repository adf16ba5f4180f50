import Foundation
import TestSupport
import Testing

/// The examples, run as commands. Other programs check the files that they write.
enum ExampleTests {}

/// `bridge-examples` as its users meet it.
enum Example {
    /// Runs one to its end.
    ///
    /// - Returns: What it wrote to standard output.
    /// - Throws: Where it does not end with 0.
    @discardableResult
    static func run(_ arguments: String...) async throws -> String {
        try await Tool.check(program, arguments, environment: noDisplay)
    }

    /// Runs one that is to fail.
    static func fail(_ arguments: String...) async throws -> ChildProcess.Result {
        try await Tool.run(program, arguments, environment: noDisplay)
    }

    static var program: String { get throws { try Tool.built("bridge-examples") } }

    /// The screen of whoever runs the tests is not to be recorded.
    static let noDisplay = ["DISPLAY": ""]

    /// A capture of 30 frames that are the same every time, and end.
    static func film(
        _ pattern: String, _ size: String = "width=320,height=240", frames: Int = 30
    ) -> String {
        "videotestsrc num-buffers=\(frames) pattern=\(pattern) ! \(caps(size))"
    }

    /// A capture that goes on for ever.
    static func camera(_ pattern: String, _ size: String = "width=320,height=240") -> String {
        "videotestsrc is-live=true pattern=\(pattern) ! \(caps(size))"
    }

    private static func caps(_ size: String) -> String {
        "video/x-raw,format=I420,\(size),framerate=30/1"
    }
}

/// Raw I420 in a file, as examples write it and as gst-launch-1.0 does.
struct RawFilm {
    let width: Int
    let height: Int
    let bytes: [UInt8]

    init(_ path: String, width: Int = 320, height: Int = 240) throws {
        (self.width, self.height) = (width, height)
        bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
    }

    /// What gst-launch-1.0 writes of a string.
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

    /// Where the frames of `other` are found among these, in order and each once: one index for each
    /// frame up to the first that is not found.
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

    /// U, then V.
    func chroma(_ frame: Int) -> ArraySlice<UInt8> {
        bytes[(frame * pictureSize)...].prefix(pictureSize).dropFirst(width * height)
    }
}
