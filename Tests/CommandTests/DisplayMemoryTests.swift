import TestSupport
import Testing

extension CommandTests {
    @Suite(.deadline(minutes: 2)) struct DisplayMemoryTests {
        /// As between linked elements, the source writes into the display's own memory; the first
        /// pictures may come before the display offers any.
        @Test func aCaptureWritesIntoADisplaysMemory() async throws {
            try await withVirtualDisplay { display in
                let ended = try await GstBridge.run(
                    [
                        "run", "--capture",
                        "videotestsrc num-buffers=10 ! video/x-raw,width=160,height=120",
                        "--output", "ximagesink",
                    ],
                    environment: [
                        "DISPLAY": display.name, "GST_DEBUG": "ximagesink:7",
                        "GST_DEBUG_NO_COLOR": "1",
                    ])
                #expect(ended.status == 0, "\(ended.errors)")
                #expect(ended.errors.contains("buffer from our pool, writing directly"))
            }
        }

        /// Behind concat the source chooses a format that is converted for the display, whose pictures
        /// would be too small for it.
        @Test func aFormatThatTheDisplayDoesNotTakeIsNotWrittenIntoItsMemory() async throws {
            try await withVirtualDisplay { display in
                let ended = try await GstBridge.run(
                    [
                        "run", "--capture",
                        "concat name=c videotestsrc num-buffers=5 ! c. videotestsrc num-buffers=5 ! c.",
                        "--output", "ximagesink sync=false",
                    ],
                    environment: ["DISPLAY": display.name])
                #expect(ended.status == 0, "\(ended.errors)")
            }
        }

        /// Asked for its memory without a device, the element crashes; xvfb has no Xv port.
        @Test func aDisplayThatDoesNotOpenIsNotAskedForMemory() async throws {
            try await withVirtualDisplay { display in
                for _ in 0..<10 {
                    let ended = try await GstBridge.run(
                        ["run", "--capture", "videotestsrc", "--output", "xvimagesink"],
                        environment: ["DISPLAY": display.name])
                    #expect(ended.status == 1, "\(ended.errors)")
                    #expect(ended.errors.contains("xvimagesink"))
                }
            }
        }
    }
}
