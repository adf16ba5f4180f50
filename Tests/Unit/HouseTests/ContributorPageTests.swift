import Foundation
import TestSupport
import Testing

/// The statements of the contributor page about the source tree are true.
@Suite(.hangGuard) struct ContributorPageTests {
    private static let page = "Sources/MediaBridge/MediaBridge.docc/WhereToChangeWhat.md"

    @Test func everyListedPathExists() throws {
        let text = try Repository.text(Self.page)
        let places = text.matches(of: /`((?:Sources|Tests)\/[^`]+)`/).map { String($0.output.1) }
        #expect(places.count > 40)
        let missing = places.filter { !Repository.exists($0) }
        #expect(missing.isEmpty)
    }

    @Test func pageHasAtLeastTwentyRows() throws {
        let rows = try Repository.text(Self.page).split(separator: "\n").filter {
            $0.hasPrefix("| ")
        }
        // One row is the heading.
        #expect(rows.count > 20)
    }

    /// `PipelineVideoSource.Configuration.depth in file`: the last component occurs in that file.
    @Test func namedDeclarationsExistInTheirFiles() throws {
        let text = try Repository.text(Self.page)
        let named = text.matches(of: /`([A-Z][\w.]+)` in `([^`]+\.swift)`/)
        #expect(named.count > 3)
        for match in named {
            let name = try #require(match.output.1.split(separator: ".").last)
            let source = try Repository.text(String(match.output.2))
            #expect(source.contains(name), "\(match.output.0)")
        }
    }
}
