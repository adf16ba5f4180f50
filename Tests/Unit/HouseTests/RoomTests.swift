import Foundation
import TestSupport
import Testing

/// The folders of a module form layers.
@Suite(.hangGuard) struct RoomTests {
    private static let sources = Repository.path("Sources")
    private static let targets =
        (try? FileManager.default.contentsOfDirectory(atPath: sources))?.sorted() ?? []

    @Test(arguments: targets) func foldersOfAModuleHaveNoCycles(target: String) throws {
        let knots = try Rooms(target: "\(Self.sources)/\(target)").knots
        #expect(knots.isEmpty)
    }

    @Test(arguments: targets) func noFolderHoldsMoreThanFifteenFiles(target: String) throws {
        let large = try Rooms(target: "\(Self.sources)/\(target)").sizes.filter { $0.value > 15 }
        #expect(large.isEmpty)
    }

    @Test func everyModuleIsChecked() throws {
        #expect(Self.targets.contains("MediaBridge"))
        #expect(try Rooms(target: "\(Self.sources)/MediaBridge").sizes.count > 10)
    }

    @Test func mutuallyDependentFoldersAreFound() {
        let rooms = Rooms([
            ("Upper", "public struct Engine { let queue: Queue }"),
            ("Lower", "final class Queue {\n    weak var owner: Engine?\n}"),
            ("Lowest", "struct Time {}"),
        ])
        #expect(rooms.knots == ["Lower uses Engine of Upper", "Upper uses Queue of Lower"])
    }

    @Test func dependencyCycleIsFound() {
        let rooms = Rooms([
            ("A", "struct First { let b: Second }"), ("B", "struct Second { let c: Third }"),
            ("C", "struct Third { func a() -> First? { nil } }"),
        ])
        #expect(rooms.knots.count == 3)
    }

    @Test func namesInCommentsAndStringsAreIgnored() {
        let rooms = Rooms([
            ("Upper", "struct Engine { let queue: Queue }"),
            ("Lower", "struct Queue {}  // for the Engine\nlet text = \"Engine\""),
        ])
        #expect(rooms.knots.isEmpty)
    }
}
