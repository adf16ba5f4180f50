import TestSupport
import Testing

/// The corpus of lines from the wild; `make wild` tries them.
@Suite(.deadline(minutes: 2))
struct WildTests {
    @Test func theCorpusHasManyLinesAndNamesTheirSources() async throws {
        let result = try await Tool.run(Tool.built("Wild"), ["--list"])
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.split(separator: "\n").count >= 150)
    }

    @Test func anEntryThatNobodyKnowsIsAnError() async throws {
        let result = try await Tool.run(Tool.built("Wild"), ["--only", "none"])
        #expect(result.status != 0)
        #expect(result.errors.contains("no entry none"))
    }
}
