import Foundation
import MediaBridge
import TestSupport
import Testing

@testable import element_examples

/// Swift classes as elements, in GStreamer's own programs.
@Suite(
    .hangGuard,
    .enabled(if: !Sanitizer.isActive, "a library with a sanitizer needs a program with it"))
struct FilterElementTests {
    @Test func inspectShowsAClassAsAnElement() async throws {
        try await withTemporaryDirectory { directory in
            let text = try await PluginDirectory(directory).inspect("blur")
            for line in [
                "Averages the pixels around each pixel", "Filter/Effect/Video",
                "+----GstVideoFilter",
                "radius              : The distance to the farthest pixel that counts, in pixels",
                "Range: 0 - 64 Default: 3", "format: { (string)I420, (string)YV12",
            ] { #expect(text.contains(line), "\(text)") }
        }
    }

    struct Picture: CustomTestStringConvertible {
        let format: String
        let width: Int
        let height: Int
        var testDescription: String { "\(format) \(width)×\(height)" }
        var source: String {
            "videotestsrc num-buffers=5 pattern=ball ! "
                + "video/x-raw,format=\(format),width=\(width),height=\(height)"
        }
        /// Width and rows of each plane.
        private var planes: [(width: Int, rows: Int)] {
            switch format {
            case "I420":
                let chroma = ((width + 1) / 2, (height + 1) / 2)
                return [(width, height), chroma, chroma]
            case "Y444": return Array(repeating: (width, height), count: 3)
            default: return [(width, height)]
            }
        }

        /// The bytes of a file without the padding behind each row, which is not initialised.
        func pixels(_ path: String) throws -> [UInt8] {
            let bytes = try [UInt8](Data(contentsOf: URL(filePath: path)))
            func padded(_ count: Int, to step: Int) -> Int { (count + step - 1) / step * step }
            var (pixels, place) = ([UInt8](), 0)
            while place < bytes.count {
                for plane in planes {
                    for _ in 0..<plane.rows {
                        pixels += bytes[place..<place + plane.width]
                        place += padded(plane.width, to: 4)
                    }
                    // The planes of I420 have an even number of rows.
                    if format == "I420", plane.rows == height, height % 2 == 1 {
                        place += padded(plane.width, to: 4)
                    }
                }
            }
            return pixels
        }
        static let all = [
            Picture(format: "I420", width: 320, height: 240),
            Picture(format: "I420", width: 63, height: 47),
            Picture(format: "GRAY8", width: 101, height: 33),
            Picture(format: "Y444", width: 2, height: 1),
        ]
    }

    @Test(arguments: Picture.all)
    func elementOutputMatchesInGstLaunchAndABridge(_ picture: Picture) async throws {
        try await withTemporaryDirectory { directory in
            let plugin = try PluginDirectory(directory)
            let (launched, bridged) = (
                directory.file("launched.raw"), directory.file("bridged.raw")
            )
            let result = try await plugin.launch(
                "\(picture.source) ! blur radius=5 ! filesink location=\(launched)")
            #expect(result.status == 0, "\(result.errors)")

            let blur = Blur()
            blur.radius.value = 5
            var plan = BridgePlan(
                capture: picture.source, outputs: ["filesink location=\(bridged)"])
            plan.processors = [blur]
            _ = try await Bridge(plan).run()

            let pixels = try picture.pixels(launched)
            #expect(pixels.count > 0)
            #expect(try pixels == picture.pixels(bridged))

            // The pictures were changed.
            let plain = try await plugin.launch("\(picture.source) ! filesink location=\(launched)")
            #expect(plain.status == 0)
            #expect(try pixels != picture.pixels(launched) || picture.width < 3)
        }
    }

    @Test func audioIsFilteredInPlaceOrInACopy() async throws {
        try await withTemporaryDirectory { directory in
            let plugin = try PluginDirectory(directory)
            let (quiet, plain) = (directory.file("quiet.raw"), directory.file("plain.raw"))
            let result = try await plugin.launch(
                "audiotestsrc num-buffers=10 ! audio/x-raw,format=F32LE,channels=2 ! tee name=t "
                    + "t. ! queue ! gain decibels=-20 ! filesink location=\(quiet) "
                    + "t. ! queue ! filesink location=\(plain)")
            #expect(result.status == 0, "\(result.errors)")
            let (before, after) = try (floats(plain), floats(quiet))
            #expect(before.count == after.count && before.contains { abs($0) > 0.1 })
            #expect(zip(before, after).allSatisfy { abs($0 * 0.1 - $1) < 1e-6 })
        }
    }

    private func floats(_ path: String) throws -> [Float] {
        try Data(contentsOf: URL(filePath: path)).withUnsafeBytes {
            Array($0.bindMemory(to: Float.self))
        }
    }

    @Test func gstreamerReportsAValueOutOfRange() async throws {
        try await withTemporaryDirectory { directory in
            let result = try await PluginDirectory(directory).launch(
                "videotestsrc num-buffers=1 ! blur radius=65 ! fakesink")
            #expect(result.status != 0 || result.errors.contains("65"), "\(result.errors)")
        }
    }

    @Test func sourceAndSinkWorkInGstLaunch() async throws {
        try await withTemporaryDirectory { directory in
            let file = directory.file("ball.y4m")
            let result = try await PluginDirectory(directory).launch(
                "ball num-buffers=5 radius=30 ! videoconvert ! y4mwriter location=\(file)")
            #expect(result.status == 0, "\(result.errors)")
            let stream = try await Tool.check(
                "ffprobe",
                ["-v", "error", "-count_frames", "-of", "csv=p=0", "-show_entries"]
                    + ["stream=codec_name,width,height,nb_read_frames", file])
            #expect(stream.contains("rawvideo,320,240,5"), "\(stream)")
        }
    }

    @Test func sinkStartFailureStatesItsCause() async throws {
        try await withTemporaryDirectory { directory in
            let result = try await PluginDirectory(directory).launch(
                "videotestsrc num-buffers=1 ! y4mwriter location=\(directory.file("no/file"))")
            #expect(result.status != 0)
            #expect(result.errors.contains("No such file or directory"), "\(result.errors)")
        }
    }

    /// With a `tee`, the buffers are shared: the filters copy them.
    @Test(arguments: ["", "tee name=NAME NAME. ! queue ! fakesink NAME. ! queue !"])
    func elementsAreFreed(tee: String) async throws {
        try await withTemporaryDirectory { directory in
            let result = try await PluginDirectory(directory).launch(
                "videotestsrc num-buffers=5 ! video/x-raw,format=I420 ! \(tee.replacing("NAME", with: "v")) blur ! fakesink "
                    + "ball num-buffers=3 ! fakesink "
                    + "audiotestsrc num-buffers=5 ! \(tee.replacing("NAME", with: "a")) gain decibels=3 ! fakesink",
                environment: [
                    "GST_TRACERS": "leaks", "GST_DEBUG": "GST_TRACER:7", "GST_DEBUG_NO_COLOR": "1",
                ])
            #expect(result.status == 0, "\(result.errors)")
            let alive = result.errors.split(separator: "\n")
                .filter { $0.contains("object-alive, type-name=(string)") && !$0.contains("%s") }
            #expect(alive.isEmpty, "\(alive)")
        }
    }
}
