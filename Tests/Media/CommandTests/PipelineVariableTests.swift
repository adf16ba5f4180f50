import TestSupport
import Testing

extension CommandTests {
    /// Variables are substituted, and faulty variables are reported.
    @Suite(.hangGuard) struct PipelineVariableTests {
        @Test(
            arguments: [
                ("filesink location=${file", "\"${\" without a \"}\""),
                ("filesink location=$file", "\"$file\" is not replaced"),
                ("filesink location=\"a$file.raw\"", "\"$file\" is not replaced"),
            ])
        func variableWithoutBracesIsReportedWithItsLine(output: String, words: String) async throws
        {
            try await withTemporaryDirectory { directory in
                let file = try directory.write(
                    "variables:\n  file: {default: out.raw}\n"
                        + "capture: videotestsrc num-buffers=3\noutputs:\n  a: |\n    \(output)\n",
                    to: "test.yaml")
                let ended = try await GstBridge.run(["run", file])
                #expect(ended.status == 1)
                #expect(ended.errors.contains("\(file):6:"), "\(ended.errors)")
                #expect(ended.errors.contains(words), "\(ended.errors)")
                #expect(ended.errors.contains("Try: ${"), "\(ended.errors)")
                #expect(directory.contents == ["test.yaml"])
            }
        }

        @Test(arguments: ["$", "a$b", "$$", "cost=$5", "$fileX", "$ file"])
        func dollarSignOutsideAVariableIsKept(value: String) async throws {
            try await withTemporaryDirectory { directory in
                let file = try directory.write(
                    """
                    variables:
                      file: {default: out.raw}
                    capture: videotestsrc num-buffers=3 ! textoverlay text='\(value)'
                    outputs:
                      a: filesink location=\(directory.path)/${file}
                    """, to: "test.yaml")
                let ended = try await GstBridge.run(["run", file])
                #expect(ended.status == 0, "\(ended.errors)")
                #expect(directory.contents.sorted() == ["out.raw", "test.yaml"])
            }
        }

        @Test func unusedVariableIsReported() async throws {
            try await withTemporaryDirectory { directory in
                let file = try directory.write(
                    "variables:\n  size: {default: 1}\n  used: {default: 3}\n"
                        + "capture: videotestsrc num-buffers=${used}\noutputs: {a: fakesink}\n",
                    to: "test.yaml")
                let ended = try await GstBridge.run(["run", file])
                #expect(ended.status == 0, "\(ended.errors)")
                #expect(ended.errors.contains("the variable \"size\" is not used"))
                #expect(!ended.errors.contains("\"used\""), "\(ended.errors)")
                let doctor = try await GstBridge.run(["doctor", file])
                #expect(
                    doctor.output.contains("remove the unused variables: size"),
                    "\(doctor.output)")
            }
        }

        @Test func outputsBesideARecordingAreReported() async throws {
            try await withTemporaryDirectory { directory in
                let file = try directory.write(
                    "capture: videotestsrc num-buffers=9\noutputs: {screen: fakesink}\n",
                    to: "test.yaml")
                let ended = try await GstBridge.run([
                    "record", file, directory.file("out.mkv"), "--reserve", "0",
                ])
                #expect(ended.status == 0, "\(ended.errors)")
                #expect(
                    ended.errors.contains("outputs besides the recording: screen"),
                    "\(ended.errors)")
            }
        }

        @Test(arguments: ["--bitrate", "--audio-bitrate", "--segment-size", "--keep-size"])
        func zeroIsRefusedForRatesAndSizes(option: String) async throws {
            let ended = try await GstBridge.run(
                ["record", "out.mkv", "--segment", "1s", option, "0"])
            #expect(ended.status == 64)
            #expect(ended.errors.contains(option))
        }
    }
}
