import TestSupport
import Testing

/// The video and audio patterns that the peer tests read back.
struct PatternTests {
    @Test func numberedPicturesAreReadInAFile() async throws {
        try await withTemporaryDirectory { directory in
            let pictures = try NumberedPictures(in: directory)
            let path = directory.file("film.mkv")
            try await Launch.check(
                "\(pictures.unpaced()) ! identity eos-after=16 ! videoconvert ! x264enc "
                    + "tune=zerolatency bitrate=1000 ! matroskamux ! filesink location=\(path)")
            let readings = try await NumberedPictures.readings(of: path)
            #expect(readings.map(\.number) == Array(0..<readings.count))
            #expect(readings.count == 15)
            #expect(readings.leftOut == 0)
            #expect(readings.allSatisfy { $0.mean < 3 })
        }
    }

    @Test func flashesAndBeepsOfAFileAreFoundTogether() async throws {
        try await withTemporaryDirectory { directory in
            let film = try FlashAndBeepFilm(in: directory)
            let path = directory.file("film.mkv")
            try await Launch.check(
                "\(film.pictures) ! identity eos-after=95 ! videoconvert ! x264enc tune=zerolatency "
                    + "! queue ! mux. \(film.sound) ! identity eos-after=310 ! audioconvert ! flacenc ! queue ! "
                    + "matroskamux name=mux ! filesink location=\(path)")
            let offsets = try await FlashAndBeepFilm.offsets(in: path)
            #expect(offsets.count >= 3)
            #expect(offsets.allSatisfy { abs($0) < 2 }, "\(offsets)")
        }
    }
}

/// Runs gst-launch-1.0 with a string as a user would type it.
enum Launch {
    static func check(_ text: String) async throws {
        // Escape everything that bash would interpret.
        let words = text.replacing("!", with: "\\!").replacing(";", with: "\\;")
        try await Tool.check("bash", ["-c", "exec gst-launch-1.0 -q \(words)"])
    }
}
