import GStreamerKit
import TestSupport
import Testing

/// Elements that appear while a pipeline runs.
@Suite(.hangGuard) struct ElementWatchTests {
    /// Refuses elements of some factories, and excludes others from autoplugging.
    private struct Judge: ElementFilter {
        var forbidden: Set<String> = []
        var unchosen: Set<String> = []

        func allows(factory: String, plugin: String) -> Bool { !unchosen.contains(factory) }
        func judge(_ element: Element) throws(PipelineError) {
            guard forbidden.contains(element.factoryName) else { return }
            throw PipelineError(.refused, message: element.factoryName)
        }
    }

    private func outcome(under judge: Judge) async throws -> PipelineError? {
        try await withTemporaryDirectory { directory in
            var clip = Clip()
            (clip.frames, clip.hasAudio) = (5, false)
            try await clip.make(at: directory.file("film.mkv"))
            let pipeline = try Pipeline(
                parsing: "filesrc location=\(directory.file("film.mkv")) ! ( decodebin ) ! fakesink"
            )
            pipeline.watchElements(judge)
            let messages = pipeline.messages
            do throws(PipelineError) {
                try await pipeline.setState(.playing)
            } catch {
                return error
            }
            for await message in messages {
                if case .error(let error) = message { return error }
                if case .endOfStream = message { break }
            }
            return nil
        }
    }

    @Test func permittedElementsRun() async throws {
        #expect(try await outcome(under: Judge()) == nil)
    }

    @Test(arguments: ["multiqueue", "matroskademux", "h264parse", "avdec_h264"])
    func forbiddenElementAddedLaterFailsThePipeline(factory: String) async throws {
        let error = try await outcome(under: Judge(forbidden: [factory]))
        #expect(error?.code == .refused)
        #expect(error?.message == factory)
    }

    @Test func excludedElementsAreNotAutoplugged() async throws {
        let judge = Judge(forbidden: ["avdec_h264"], unchosen: ["avdec_h264", "openh264dec"])
        #expect(try await outcome(under: judge)?.code == .missingElement)
    }
}
