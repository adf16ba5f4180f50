import TestSupport
import Testing

/// The corpus of lines from the wild; `make wild` tries them all.
@Suite(.deadline(minutes: 10))
struct WildTests {
    @Test func theCorpusHasManyLinesAndNamesTheirSources() async throws {
        let result = try await Tool.run(Tool.built("Wild"), ["--list"])
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.split(separator: "\n").count >= 150)
    }

    @Test func aThirdOfTheLinesDoWhatGstLaunchDoesOrAreRefusedFairly() async throws {
        let result = try await Tool.run(
            Tool.built("Wild"), ["--third", "--jobs", "2"], within: .seconds(200))
        let output = result.output
        let counts = try #require(
            output.firstMatch(
                of: /([0-9]+) of ([0-9]+) right .*, ([0-9]+) refused fairly, ([0-9]+) wrong/),
            "\(output)\(result.errors)")
        let (all, wrong) = (Int(counts.2) ?? 0, Int(counts.4) ?? .max)
        #expect(all > 80 && wrong * 20 <= all, "\(output)")
        #expect(!output.contains("without a word"), "\(output)")
    }

    /// The third has no windows: here is one behind `concat`, and two beside recordings.
    @Test func linesWithWindowsDoWhatGstLaunchDoes() async throws {
        let result = try await Tool.run(
            Tool.built("Wild"),
            ["--only", "concat-two-patterns,record-and-view,gist-tee-splitmuxsink-mp4mux"],
            within: .seconds(120))
        #expect(result.output.contains("3 of 3 right"), "\(result.output)\(result.errors)")
    }

    @Test func anEntryThatNobodyKnowsIsAnError() async throws {
        let result = try await Tool.run(Tool.built("Wild"), ["--only", "none"])
        #expect(result.status != 0)
        #expect(result.errors.contains("no entry none"))
    }
}
