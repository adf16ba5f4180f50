import TestSupport
import Testing

/// The first line of each file of the corpus that needs no window and no live source. `make wild` runs every line;
/// three lines with windows are in the live layer.
@Suite(.hangGuard)
struct WildTests {
    @Test func corpusHasManyLines() async throws {
        let result = try await Tool.run(Tool.built("Wild"), ["--list"])
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.split(separator: "\n").count >= 150)
    }

    @Test func lineOfEachFamilyMatchesGstLaunchOrIsRefused() async throws {
        let result = try await Tool.run(
            Tool.built("Wild"), ["--sample", "1", "--jobs", "1"])
        let output = result.output
        let counts = try #require(
            output.firstMatch(
                of: /([0-9]+) of ([0-9]+) right .*, ([0-9]+) refused fairly, ([0-9]+) wrong/),
            "\(output)\(result.errors)")
        let (all, wrong) = (Int(counts.2) ?? 0, Int(counts.4) ?? .max)
        #expect(all > 10 && wrong == 0, "\(output)")
        #expect(!output.contains("without a word"), "\(output)")
    }

    @Test func unknownEntryIsAnError() async throws {
        let result = try await Tool.run(Tool.built("Wild"), ["--only", "none"])
        #expect(result.status != 0)
        #expect(result.errors.contains("no entry none"))
    }
}
