import Foundation

/// Latency to the frame callback of the page of `gst-bridge share`, in Chromium.
func measurePage(seconds: Int) async throws {
    try await Site.with { site in
        let (camera, share) = try await site.share()
        try await withBrowser(on: site.network.client) { browser in
            let page = try await browser.open(site.page)
            try await page.evaluate("rig.shown(video)")
            try await Task.sleep(for: .seconds(4))
            let offset = try await clockOffset(of: page)
            let load = try Load(["sender": share])
            async let pictures = page.evaluate(
                "rig.stamps(video, \(seconds * 1000))", as: [[Double]].self,
                within: .seconds(seconds + 20))
            let end = try await load.measure(seconds: seconds)
            let arrived = try await pictures.map { stamp in
                (number: Int(stamp[0]), time: Int64(stamp[1] * 1e6) + offset)
            }
            let sent = try await camera.stop().output
            try Journey(sent: sent).printTimes(
                arrived: arrived, within: load.begin...end - 500_000_000)
        }
    }
}

/// The offset of the page's clock behind the clock of ``Log``, accurate to half a millisecond.
private func clockOffset(of page: Browser.Page) async throws -> Int64 {
    var best = (trip: Int64.max, offset: Int64(0))
    for _ in 0..<40 {
        let before = Log.now
        let time = try await page.evaluate("performance.now()", as: Double.self)
        let after = Log.now
        guard after - before < best.trip else { continue }
        best = (after - before, (before + after) / 2 - Int64(time * 1e6))
    }
    FileHandle.standardError.write(Data("clocks compared in \(best.trip / 1000) µs\n".utf8))
    return best.offset
}

/// The time from the opening of the page of `gst-bridge share` to its first frame, without other viewers.
///
/// - Parameter isBrowserNew: Whether to open each page as the first one of a new browser.
func measureFirstPicture(times: Int, isBrowserNew: Bool) async throws {
    try await Site.with { site in
        _ = try await site.share()
        for _ in 0..<(isBrowserNew ? times : 1) {
            try await withBrowser(on: site.network.client) { browser in
                for _ in 0..<(isBrowserNew ? 1 : times) {
                    let page = try await browser.open(site.page)
                    let time = try await page.evaluate("rig.firstPicture", as: Double.self)
                    say("\(Int64(time * 1e6))")
                    try await page.close()
                    try await Task.sleep(for: .seconds(1))
                }
            }
        }
    }
}

/// How long the page of `gst-bridge share` freezes when its network drops from 3 Mbit/s to 600 kbit/s. It is
/// the sum of all times over half a second without a new frame, in the twelve seconds after the drop. The
/// sender sends 1.5 Mbit/s before; a queue of 200 ms precedes the rate limit.
func measureNarrowing(times: Int) async throws {
    for _ in 0..<times {
        try await Site.with { site in
            let capture =
                "videotestsrc is-live=true pattern=zone-plate kx2=20 ky2=20 kt=1 ! video/x-raw,"
                + "width=\(Pictures.width),height=\(Pictures.height),framerate=\(Pictures.rate)/1 ! "
                + "timeoverlay ! videoconvert"
            _ = try await site.share(capture, ["--bitrate", "1500k"])
            try await withBrowser(on: site.network.client) { browser in
                let page = try await browser.open(site.page)
                try await page.evaluate("rig.shown(video)")
                try await site.network.limit(to: 3000, to: site.network.client)
                try await Task.sleep(for: .seconds(6))
                try await page.evaluate(
                    """
                    globalThis.shown = [performance.now()];
                    video.requestVideoFrameCallback(function next(now) {
                      shown.push(now);
                      video.requestVideoFrameCallback(next);
                    })
                    """)
                try await site.network.limit(to: 600, to: site.network.client)
                try await Task.sleep(for: .seconds(12))
                let shown = try await page.evaluate(
                    "[...shown, performance.now()]", as: [Double].self)
                let still = zip(shown, shown.dropFirst()).map { $1 - $0 }.filter { $0 > 500 }
                say("\(Int64(still.reduce(0, +) * 1e6))")
            }
        }
    }
}
