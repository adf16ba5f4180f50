import TestSupport
import Testing

/// Lines from the wild work when they are cut as a user cuts them; `make wild` tries all of them.
@Suite(
    .serialized, .deadline(minutes: 15), .enabled(if: !Sanitizer.isActive, "it runs for minutes"))
struct WildTests {
    @Test func aThirdOfTheCorpusPasses() async throws {
        let result = try await Tool.run(
            Tool.built("Wild"), ["--third", "--jobs", "4"], within: .seconds(800))
        #expect(result.status == 0, "\(result.output)\(result.errors)")
    }

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
