import Foundation
import TestSupport
import Testing

/// A server run by `gst-bridge host`, and clients that join with the command and the link that it prints.
@Suite(
    .hangGuard, .needsJanus, .serialized,
    .enabled(if: TestNetwork.isAvailable, Comment(rawValue: TestNetwork.unavailable ?? "")))
struct HostTests {
    /// A running `gst-bridge host`, and what it prints about a channel.
    private struct Host {
        let program: ChildProcess
        /// The printed command that a user types to join.
        let command: [String]
        let page: String

        init(
            on network: TestNetwork, _ more: [String] = [], environment: [String: String] = [:]
        ) async throws {
            program = try network.server.start(
                Tool.gstBridge,
                ["host", "hall", "--listen", "\(network.server.address):8080"] + more,
                environment: Call.patience.merging(environment) { $1 })
            try await program.waitForErrors(to: "say where browsers join") {
                $0.contains("browsers join at ")
            }
            let lines = program.errors.split(separator: "\n").map(String.init)
            let line = try #require(lines.first { $0.contains("gst-bridge join ") })
            // The token contains a space and is therefore quoted.
            let halves = line.split(separator: " --token ", maxSplits: 1)
            command =
                halves[0].split(separator: " ").dropFirst(2).map(String.init)
                + (halves.count > 1 ? ["--token", halves[1].trimmingCharacters(in: ["'"])] : [])
            page = try #require(lines.first { $0.contains("browsers join at ") })
                .replacing("gst-bridge: browsers join at ", with: "")
        }

        /// The command, with a user's name inserted.
        func command(for user: String) -> [String] { command.map { $0 == "NAME" ? user : $0 } }
    }

    @Test func browserAndProgramSeeEachOther() async throws {
        try await withTemporaryDirectory { directory in
            try await withTestNetwork { network in
                let host = try await Host(on: network)
                let pictures = try NumberedPictures(in: directory)
                // `gst-bridge join` creates this directory.
                let recordings = directory.file("recordings/of-alice")
                let alice = try network.server.start(
                    Tool.gstBridge,
                    host.command(for: "alice") + [
                        "--capture", pictures.source(of: Call.numbers(of: "alice")), "--record",
                        recordings, "--report", "json",
                    ] + Call.watching, environment: Call.patience)
                try await alice.waits(for: "gst-bridge: sending")
                var configuration = Browser.Configuration()
                configuration.cameraFilm = try pictures.writeFilm()
                try await withBrowser(on: network.client, configuration) { browser in
                    // Chromium treats names that end in localhost as secure origins, so its camera is
                    // allowed there.
                    let page = try await browser.open(
                        host.page.replacing(network.server.address, with: "server.localhost"))
                    try await page.evaluate("$('name').value = 'ann'; $('join').click()")
                    let readings = try await page.evaluate(
                        """
                        (async () => {
                          const find = () => document.querySelector('[data-user=alice] video');
                          await new Promise(done => {
                            const look = () => find() && done();
                            new MutationObserver(look).observe(document, {childList: true, subtree: true});
                            look();
                          });
                          await rig.shown(find(), 10);
                          return rig.watch(find(), 10);
                        })()
                        """, as: [NumberedPictures.Reading].self, within: .hangLimit)
                    #expect(readings.count == 10)
                    #expect(readings.allSatisfy { $0.mean < 20 })
                    let numbers = readings.map(\.number)
                    #expect(numbers.allSatisfy(Call.numbers(of: "alice").contains))
                    #expect(numbers.areInOrder(of: 128, repeats: false), "\(numbers)")
                    try await alice.waitsForPictures(of: "ann")
                    try await alice.waits(for: "ann sends audio")
                    #expect(try await page.evaluate(Self.fits) == "true")
                    try await page.evaluate(
                        "for (const id of ['camera', 'microphone', 'sound']) $(id).click()")
                    let isOn = try await page.evaluate(
                        """
                        [...current.stream.getTracks().map(track => track.enabled),
                          !document.querySelector('[data-user=alice] video').muted]
                        """, as: [Bool].self)
                    #expect(isOn == [false, false, false])
                    try await page.evaluate("$('leave').click()")
                    try await alice.waits(for: "ann has left")
                    #expect(
                        try await page.evaluate("$('users').childElementCount", as: Int.self) == 0)
                }
                let file = try #require(try await alice.report().files?.first)
                let seen = try await NumberedPictures.readings(of: file.path)
                // A browser starts at a low bit rate, and ends with a black picture.
                #expect(seen.contains { $0.mean < 20 }, "\(seen.map(\.mean))")
                let probe = try await MediaProbe(of: file.path)
                #expect(probe.video?.frames == file.frames)
                #expect(probe.audio?.codec == "opus")
                host.program.send(signal: SIGINT)
                #expect(try await host.program.end().status == 0)
            }
        }
    }

    /// JavaScript: whether everything on the page fits in the window.
    private static let fits = """
        document.documentElement.scrollHeight <= innerHeight
          && [...document.querySelectorAll('figure, button')].every(
            element => element.getBoundingClientRect().bottom <= innerHeight)
        """

    @Test func onlyTheHostsPageConnectsAndItReconnectsAfterARestart() async throws {
        try await withTestNetwork { network in
            let host = try await Host(on: network, ["--open"])
            let alice = try network.server.start(
                Tool.gstBridge, host.command(for: "alice") + ["--capture", Call.camera],
                environment: Call.patience)
            try await alice.waits(for: "gst-bridge: sending")
            try await withBrowser(on: network.client) { browser in
                let foreign = try await browser.open("about:blank")
                let end = try await foreign.evaluate(
                    """
                    new Promise(done => {
                      const socket = new WebSocket('ws://\(network.server.address):8188', 'janus-protocol');
                      socket.onopen = () => done('open');
                      socket.onerror = () => done('refused');
                    })
                    """, as: String.self)
                #expect(end == "refused")
                // The link names a different server.
                let page = try await browser.open("\(host.page)#server=ws://127.0.0.1:1")
                try await page.evaluate("$('name').value = 'ann'; $('watch').click()")
                try await page.evaluate(Self.watchAlice)
                #expect(try await page.evaluate(Self.fits) == "true")
                try await Tool.check("pkill", ["-KILL", "-P", "\(host.program.pid)"])
                try await host.program.waits(for: "is running again")
                try await page.evaluate(Self.watchAlice)
            }
            host.program.send(signal: SIGTERM)
            #expect(try await host.program.end().status == 0)
        }
    }

    /// JavaScript that waits until alice has a new video, one that was not awaited before, with a picture.
    private static let watchAlice = """
        (async () => {
          const find = () => document.querySelector('[data-user=alice] video');
          await new Promise(done => {
            const look = () => find() && find() !== globalThis.seen && done();
            new MutationObserver(look).observe(document, {childList: true, subtree: true});
            look();
          });
          globalThis.seen = find();
          await rig.shown(seen, 3);
        })()
        """

    @Test func networkAddressNeedsTokensAndACrashedServerRestarts() async throws {
        try await withTemporaryDirectory { directory in
            try await withTestNetwork { network in
                let host = try await Host(on: network)
                let place = host.command.firstIndex(of: "--token") ?? 0
                let stranger = try await join(network, Array(host.command[..<place]))
                #expect(stranger.status == 1)
                #expect(stranger.errors.contains("token"))
                let member = try await join(network, host.command)
                #expect(member.status == 0, "\(member.errors)")
                let file = try directory.write(host.command[place + 1] + "\n", to: "token")
                let discreet = try await join(
                    network, Array(host.command[..<place]) + ["--token-file", file])
                #expect(discreet.status == 0, "\(discreet.errors)")

                let alice = try network.server.start(
                    Tool.gstBridge, host.command(for: "alice") + ["--capture", Call.camera],
                    environment: Call.patience)
                try await alice.waits(for: "gst-bridge: sending")
                try await Tool.check("pkill", ["-KILL", "-P", "\(host.program.pid)"])
                try await host.program.waits(for: "is running again")
                try await alice.waits(for: "reconnected")
                host.program.send(signal: SIGTERM)
                #expect(try await host.program.end().status == 0)
            }
        }
    }

    @Test func failedServerRestartIsReportedUntilItSucceeds() async throws {
        try await withTemporaryDirectory { directory in
            try await withTestNetwork { network in
                let place = directory.file("temporary")
                try FileManager.default.createDirectory(
                    atPath: place, withIntermediateDirectories: false)
                let host = try await Host(on: network, environment: ["TMPDIR": place])
                // The server's settings have no place to be written to.
                try FileManager.default.removeItem(atPath: place)
                _ = try directory.write("", to: "temporary")
                try await Tool.check("pkill", ["-KILL", "-P", "\(host.program.pid)"])
                try await host.program.waits(for: "does not start again; next attempt in ")
                try FileManager.default.removeItem(atPath: place)
                try await host.program.waits(for: "is running again")
                host.program.send(signal: SIGTERM)
                #expect(try await host.program.end().status == 0)
            }
        }
    }

    private func join(
        _ network: TestNetwork, _ command: [String]
    ) async throws -> ChildProcess.Result {
        try await network.server.run(
            Tool.gstBridge, command.map { $0 == "NAME" ? "alice" : $0 } + ["--duration", "100ms"],
            environment: Call.patience)
    }

    @Test func openHostNeedsNoTokenAndAPortInUseIsAnError() async throws {
        try await withTestNetwork { network in
            let host = try await Host(on: network, ["--open"])
            #expect(!host.page.contains("token"))
            let anybody = try await join(network, host.command)
            #expect(anybody.status == 0, "\(anybody.errors)")
            let second = try await network.server.run(
                Tool.gstBridge, ["host", "hall", "--listen", "\(network.server.address):8081"])
            #expect(second.status == 1)
            #expect(second.errors.contains("--port"), "\(second.errors)")
        }
    }

    @Test func serverExitsWhenItsHostIsKilled() async throws {
        try await withTestNetwork { network in
            let host = try await Host(on: network)
            let child = try await Tool.check("pgrep", ["-P", "\(host.program.pid)"])
            host.program.send(signal: SIGKILL)
            _ = try await host.program.end()
            // Returns when the Janus child process has ended.
            let wait = """
                import os, select, sys
                try: process = os.pidfd_open(int(sys.argv[1]))
                except ProcessLookupError: sys.exit()
                poll = select.poll()
                poll.register(process, select.POLLIN)
                poll.poll()
                """
            try await Tool.check(
                "python3", ["-c", wait, child.trimmingCharacters(in: .whitespacesAndNewlines)])
        }
    }

    @Test(arguments: [["a b"], ["a/b"], [""], ["hall", "hall"], ["hall", "--port", "0"], []])
    func badArgumentsAreRefused(arguments: [String]) async throws {
        let result = try await Tool.run(Tool.gstBridge, ["host"] + arguments)
        #expect(result.status == 64)
    }
}
