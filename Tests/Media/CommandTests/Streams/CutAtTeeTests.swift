import Foundation
import TestSupport
import Testing

extension CommandTests {
    /// An output that begins with a reference to an element of the capture continues from that
    /// element. A pipeline cut behind its tee results in such an output.
    @Suite(.hangGuard) struct CutAtTeeTests {
        private static let source =
            "videotestsrc num-buffers=20 ! video/x-raw,format=I420,width=64,height=48"

        @Test(arguments: [
            // The tee is the open end.
            (
                "\(source) ! tee name=t",
                ["t. ! queue ! fakesink", "t. ! queue ! jpegenc ! fakesink"]
            ),
            // The tee already has a branch, and the capture has no open end.
            ("\(source) ! tee name=t t. ! queue ! fakesink", ["t. ! queue ! fakesink"]),
            ("\(source) ! tee name=t", ["t.src_7 ! queue ! fakesink", "queue ! fakesink"]),
        ])
        func outputContinuesFromAnElementOfTheCapture(
            capture: String, outputs: [String]
        ) async throws {
            let ended = try await GstBridge.run(capture: capture, outputs: outputs)
            #expect(ended.status == 0, "\(ended.errors)")
            let report = try ended.report
            #expect(report.outputs.count == outputs.count)
            for (name, counts) in report.outputs {
                #expect(counts.frames == 20 && counts.dropped == 0, "\(name): \(counts)")
            }
        }

        @Test func outputMayBranchTwiceFromOneElement() async throws {
            try await withTemporaryDirectory { directory in
                let (one, two) = (directory.file("one"), directory.file("two"))
                let ended = try await GstBridge.run(
                    capture: "\(Self.source) ! tee name=t",
                    outputs: [
                        "t. ! queue ! filesink location=\(one) t. ! queue ! filesink location=\(two)"
                    ])
                #expect(ended.status == 0, "\(ended.errors)")
                let (a, b) = (try directory.data("one"), try directory.data("two"))
                let pictureBytes = 64 * 48 * 3 / 2
                #expect(a.count == 20 * pictureBytes)
                #expect(a == b)
            }
        }

        @Test func ambiguousStreamErrorShowsHowToNameOne() async throws {
            let ended = try await GstBridge.run(
                capture: "\(Self.source) ! tee name=t t. ! queue ! appsink name=a "
                    + "t. ! queue ! appsink name=b",
                outputs: ["t. ! queue ! fakesink"])
            #expect(ended.status == 64 || ended.status == 1)
            #expect(ended.errors.contains("\"t\" is an element of the capture"), "\(ended.errors)")
            #expect(ended.errors.contains("appsrc name=video"), "\(ended.errors)")
        }
    }
}
