import GStreamerKit
import TestSupport
import Testing

@Suite(.hangGuard) struct ElementChainTests {
    /// A grey picture in which every byte is `byte`, in memory that the buffer owns.
    private static func picture(_ info: VideoInfo, byte: UInt8) throws -> Buffer {
        guard let buffer = Buffer.allocate(byteCount: info.byteCount) else {
            throw PipelineError(.elementFailed, message: "no memory")
        }
        guard let mapped = MappedVideoFrame(buffer, info, .write) else {
            throw PipelineError(.elementFailed, message: "not mappable")
        }
        for index in 0..<mapped.planeCount {
            mapped.plane(index).memory.initializeMemory(as: UInt8.self, repeating: byte)
        }
        return buffer
    }

    private static func firstByte(_ buffer: borrowing Buffer) -> UInt8? {
        guard let mapped = MappedBuffer(buffer) else { return nil }
        return mapped.bytes.unsafeLoad(fromByteOffset: 0, as: UInt8.self)
    }

    @Test func aChainConvertsOneBufferAtATime() throws {
        let chain = try ElementChain(
            "videoconvert ! videoscale ! capsfilter caps=video/x-raw,format=BGRx,width=8,height=8")
        let info = try VideoInfo(format: "GRAY8", width: 16, height: 16)
        for byte in [0, 77, 255] as [UInt8] {
            let output = try chain.process(try Self.picture(info, byte: byte), caps: info.caps)
            let made = try #require(VideoInfo(output.caps))
            #expect(made.format == "BGRx" && made.width == 8 && made.height == 8)
            check(output.buffer.byteCount == 8 * 8 * 4)
            let byteThere = Self.firstByte(output.buffer)
            let got = try #require(byteThere)
            #expect(abs(Int(got) - Int(byte)) <= 2)
        }
    }

    @Test func passthroughBufferIsNotCopied() throws {
        let chain = try ElementChain("identity")
        let info = try VideoInfo(format: "GRAY8", width: 16, height: 16)
        let buffer = try Self.picture(info, byte: 3)
        let output = try chain.process(buffer.retained(), caps: info.caps)
        check(!buffer.isWritable, "it is the very buffer, which has two owners now")
        #expect(output.caps.isEqual(to: info.caps))
    }

    @Test func chainFollowsNewCaps() throws {
        let chain = try ElementChain("videoconvert ! capsfilter caps=video/x-raw,format=GRAY8")
        for (format, size) in [("I420", 16), ("BGRA", 8), ("I420", 16), ("NV12", 32)] {
            let info = try VideoInfo(format: format, width: size, height: size)
            let output = try chain.process(try Self.picture(info, byte: 128), caps: info.caps)
            #expect(VideoInfo(output.caps)?.width == size)
            check(output.buffer.byteCount == size * size)
        }
    }

    @Test func unsupportedCapsAreAnErrorAndTheNextBufferSucceeds() throws {
        let chain = try ElementChain("videoconvert ! capsfilter caps=video/x-raw,format=GRAY8")
        let good = try VideoInfo(format: "I420", width: 8, height: 8)
        let bad = try Caps("audio/x-raw,format=S16LE,rate=8000,channels=1,layout=interleaved")
        for _ in 0..<3 {
            #expect(throws: PipelineError.self) {
                _ = try chain.process(try Self.picture(good, byte: 1), caps: bad)
            }
            let output = try chain.process(try Self.picture(good, byte: 1), caps: good.caps)
            check(output.buffer.byteCount == 64)
        }
    }

    @Test func elementErrorStatesTheCause() throws {
        let chain = try ElementChain("identity error-after=2")
        let info = try VideoInfo(format: "GRAY8", width: 4, height: 4)
        _ = try chain.process(try Self.picture(info, byte: 0), caps: info.caps)
        let error = #expect(throws: PipelineError.self) {
            _ = try chain.process(try Self.picture(info, byte: 0), caps: info.caps)
        }
        #expect(error?.element?.contains("identity") == true)
        #expect(
            error?.debug?.contains("Failed after iterations") == true
                || error?.message.contains("Failed") == true)
    }

    @Test func anElementThatKeepsItsBufferIsAnError() throws {
        let chain = try ElementChain("identity drop-probability=1.0")
        let info = try VideoInfo(format: "GRAY8", width: 4, height: 4)
        let error = #expect(throws: PipelineError.self) {
            _ = try chain.process(try Self.picture(info, byte: 0), caps: info.caps)
        }
        #expect(error?.code == .streamFailed)
    }

    /// `errorignore` turns the flow error into a success, and the element's message remains.
    @Test func errorIsNotReportedForLaterBuffers() throws {
        let chain = try ElementChain("errorignore convert-to=ok ! identity name=last error-after=2")
        let info = try VideoInfo(format: "GRAY8", width: 4, height: 4)
        _ = try chain.process(try Self.picture(info, byte: 0), caps: info.caps)
        let isEmpty =
            try chain.processIfAny(try Self.picture(info, byte: 0), caps: info.caps) == nil
        check(isEmpty)
        chain.set("drop-probability", "1.0", of: "last")
        let error = #expect(throws: PipelineError.self) {
            _ = try chain.process(try Self.picture(info, byte: 0), caps: info.caps)
        }
        #expect(error?.code == .streamFailed)
    }

    @Test(
        arguments: [
            ("nosuch", .missingElement), ("videoconvert ! edgedetect", .missingElement),
            ("videotestsrc", .linkFailed),
            ("fakesink", .linkFailed), ("videoconvert nosuch=1", .noSuchProperty),
            ("videoconvert !", nil), ("", nil),
        ] as [(String, PipelineError.Code?)])
    func invalidChainIsAnError(text: String, code: PipelineError.Code?) {
        let error = #expect(throws: PipelineError.self) { try ElementChain(text) }
        if let code { #expect(error?.code == code) }
    }

    @Test func concurrentCallersGetTheirOwnResults() async throws {
        let chain = try ElementChain("videoconvert ! capsfilter caps=video/x-raw,format=GRAY8")
        let info = try VideoInfo(format: "BGRx", width: 16, height: 16)
        let wrong = await withTaskGroup { group in
            for task in 0..<4 {
                group.addTask {
                    var wrong = 0
                    let byte = UInt8(task * 60)
                    for _ in 0..<200 {
                        guard let picture = try? Self.picture(info, byte: byte),
                            let output = try? chain.process(picture, caps: info.caps),
                            let got = Self.firstByte(output.buffer),
                            abs(Int(got) - Int(byte)) <= 2
                        else {
                            wrong += 1
                            continue
                        }
                    }
                    return wrong
                }
            }
            return await group.reduce(0, +)
        }
        #expect(wrong == 0)
    }

    @Test func chainReleasesItsElements() throws {
        weak var held: Caps?
        do {
            let chain = try ElementChain("videoconvert ! capsfilter caps=video/x-raw,format=GRAY8")
            let info = try VideoInfo(format: "I420", width: 8, height: 8)
            _ = try chain.process(try Self.picture(info, byte: 1), caps: info.caps)
            held = info.caps
        }
        #expect(held == nil)
    }
}
