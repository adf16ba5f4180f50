import GStreamerKit
import MediaBridgeWebRTC
import TestSupport
import Testing

@Suite(.hangGuard) struct SignallingClientTests {
    private func failure(
        token: String? = nil, timeout: Duration = .hangLimit,
        _ answer: @escaping @Sendable (ScriptedServer.Request) -> ScriptedServer.Reply
    ) async throws -> PipelineError {
        let server = try ScriptedServer(answer)
        let client = try SignallingClient("\(server.url)/whip", token: token, timeout: timeout)
        return try await #require(throws: PipelineError.self) {
            _ = try await client.post(offer: Offers.offer())
        }
    }

    @Test func offerReturnsAnAnswerAndASession() async throws {
        let server = try ScriptedServer { request in
            switch request.method {
            case "POST":
                .response(
                    "201 Created",
                    [
                        "Content-Type: application/sdp", "Location: ../sessions/7?a=b",
                    ], body: Offers.answer)
            default: .response("200 OK")
            }
        }
        let client = try SignallingClient(
            "\(server.url)/live/whip", token: "secret", timeout: .hangLimit)
        let session = try await client.post(offer: Offers.offer())
        #expect(session.answer == Offers.answer)
        #expect(session.resource?.absoluteString == "\(server.url)/sessions/7?a=b")
        await session.end()
        await session.end()
        let requests = server.requests
        #expect(requests.map(\.method) == ["POST", "DELETE"])
        #expect(requests.allSatisfy { $0.fields["authorization"] == "Bearer secret" })
        #expect(requests[0].fields["content-type"] == "application/sdp")
        #expect(requests[0].body == Offers.offer())
        #expect(requests[1].path == "/sessions/7?a=b")
    }

    @Test(arguments: [307, 308]) func redirectsAreFollowed(status: Int) async throws {
        let server = try ScriptedServer { request in
            request.path == "/whip"
                ? .response("\(status) Moved", ["Location: /elsewhere/whip"]) : .answer
        }
        let client = try SignallingClient(
            "\(server.url)/whip", token: "secret", timeout: .hangLimit)
        let session = try await client.post(offer: Offers.offer())
        #expect(session.resource?.path == "/whip/abc")
        #expect(server.requests.map(\.method) == ["POST", "POST"])
        #expect(server.requests.last?.body == Offers.offer())
        #expect(server.requests.last?.fields["authorization"] == "Bearer secret")
    }

    /// A date depends on two clocks, and is not used.
    @Test(arguments: [
        ("7", Duration.seconds(7)), ("86400", .seconds(300)), ("-5", .zero), ("soon", nil),
        ("Wed, 21 Oct 2026 07:28:00 GMT", nil),
    ])
    func retryDelayOfAFullServerIsReported(text: String, delay: Duration?) async throws {
        let error = try await failure { _ in
            .response("503 Service Unavailable", ["Retry-After: \(text)"])
        }
        #expect(error.code == .busy && error.retryAfter == delay)
    }

    @Test func tokenIsNotSentToAnotherOrigin() async throws {
        let other = try ScriptedServer { _ in .answer }
        let target = other.url
        let first = try ScriptedServer { _ in
            .response("307 Temporary Redirect", ["Location: \(target)/whip"])
        }
        let client = try SignallingClient("\(first.url)/whip", token: "secret", timeout: .hangLimit)
        let session = try await client.post(offer: Offers.offer())
        await session.end()
        #expect(first.requests.first?.fields["authorization"] == "Bearer secret")
        #expect(other.requests.map(\.method) == ["POST", "DELETE"])
        #expect(other.requests.allSatisfy { $0.fields["authorization"] == nil })
    }

    @Test func deleteIsRetriedWhenItsConnectionIsDropped() async throws {
        let ends = Observed(0)
        let server = try ScriptedServer { request in
            guard request.method == "DELETE" else { return .answer }
            let number = ends.change { ends in
                ends += 1
                return ends
            }
            return number == 1 ? .cut : .response("200 OK")
        }
        let client = try SignallingClient("\(server.url)/whip", timeout: .hangLimit)
        await (try client.post(offer: Offers.offer())).end()
        #expect(server.requests.map(\.method) == ["POST", "DELETE", "DELETE"])
    }

    @Test func redirectLoopIsAnError() async throws {
        let error = try await failure { _ in .response("307 Moved", ["Location: /whip"]) }
        #expect(error.code == .refused)
    }

    @Test(arguments: [301, 302, 303]) func otherRedirectsAreRefused(status: Int) async throws {
        let error = try await failure { _ in .response("\(status) Moved", ["Location: /other"]) }
        #expect(error.code == .refused)
        #expect(error.message.contains("\(status)"))
    }

    @Test(
        arguments: [
            (400, PipelineError.Code.refused), (401, .unauthorized), (403, .unauthorized),
            (404, .refused), (405, .refused), (406, .nothingInCommon), (409, .busy),
            (415, .refused), (422, .refused), (429, .busy), (500, .refused), (503, .busy),
        ]) func refusalErrorsContainTheStatusAndTheFirstLine(status: Int, code: PipelineError.Code)
        async throws
    {
        let error = try await failure(token: "tok-secret") { _ in
            .response(
                "\(status) No", ["Content-Type: text/plain", "WWW-Authenticate: Bearer"],
                body: "the reason\u{1B}[31m\nmore")
        }
        #expect(error.code == code)
        #expect(error.message.contains("\(status)"))
        #expect(error.message.contains("the reason\u{FFFD}[31m"))
        #expect(!error.message.contains("more"))
        #expect(!"\(error)".contains("tok-secret"))
    }

    @Test func answerWithAnotherContentTypeIsRefused() async throws {
        let error = try await failure { _ in
            .response("201 Created", ["Content-Type: text/html"], body: "<html>v=0")
        }
        #expect(error.code == .badDescription)
        #expect(error.message.contains("text/html"))
    }

    @Test func endlessResponseIsCutOff() async throws {
        let error = try await failure { _ in .flood }
        #expect(error.code == .refused)
        #expect(error.message.contains("256 KiB"))
    }

    @Test func unansweredRequestTimesOut() async throws {
        let error = try await failure(timeout: .milliseconds(300)) { _ in .silence }
        #expect(error.code == .deadlineExceeded)
    }

    @Test func droppedConnectionIsReportedAsUnreachable() async throws {
        let error = try await failure { _ in .cut }
        #expect(error.code == .unreachable)
        let port = try FreePort.tcp()
        let client = try SignallingClient(
            "http://127.0.0.1:\(port)/whip?key=hidden", timeout: .hangLimit)
        let refused = try await #require(throws: PipelineError.self) {
            _ = try await client.post(offer: Offers.offer())
        }
        #expect(refused.code == .unreachable)
        #expect(!"\(refused)".contains("hidden"))
    }

    @Test func aCancelledTaskStopsWaiting() async throws {
        let arrived = Observed(false)
        let server = try ScriptedServer { _ in
            arrived.change { $0 = true }
            return .silence
        }
        let client = try SignallingClient("\(server.url)/whip", timeout: .hangLimit)
        let task = Task { () -> PipelineError? in
            do throws(PipelineError) {
                _ = try await client.post(offer: Offers.offer())
                return nil
            } catch { return error }
        }
        await arrived.wait { $0 }
        task.cancel()
        #expect(await task.value?.code == .closed)
    }

    @Test func responseWithoutALocationIsAccepted() async throws {
        let server = try ScriptedServer { _ in
            .response("201 Created", ["Content-Type: application/sdp"], body: Offers.answer)
        }
        let session = try await SignallingClient("\(server.url)/whip", timeout: .hangLimit).post(
            offer: Offers.offer())
        #expect(session.resource == nil)
        await session.end()
        #expect(server.requests.count == 1)
    }
}
