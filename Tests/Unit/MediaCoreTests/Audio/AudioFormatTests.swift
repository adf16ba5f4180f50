import MediaCore
import Testing

@Suite struct AudioFormatTests {
    @Test(arguments: [
        ("S16LE", 16, 16), ("S24_32BE", 24, 32), ("S24LE", 24, 24), ("S20LE", 20, 24),
        ("U18BE", 18, 24), ("F64LE", 64, 64), ("U8", 8, 8), ("S8", 8, 8),
    ])
    func formatNamesStateDepthAndWidth(name: String, depth: Int, width: Int) throws {
        let format = try #require(AudioSampleFormat(rawValue: name))
        #expect(format.depth == depth)
        #expect(format.width == width)
        #expect(format.bytesPerSample == width / 8)
        #expect(format.isLittleEndian == !name.hasSuffix("BE"))
    }

    @Test(arguments: ["", "S16", "S8LE", "F16LE", "S24_16LE", "F32_32LE", "X16LE", "S16LEE"])
    func unknownNameIsNoFormat(name: String) {
        #expect(AudioSampleFormat(rawValue: name) == nil)
    }

    @Test func constantsMatchTheirNames() {
        for format: AudioSampleFormat in [.s16le, .s24le, .s32le, .f32le, .f64le, .u8, .s8] {
            #expect(AudioSampleFormat(rawValue: format.rawValue) == format)
        }
    }

    @Test func samplesConvertToTimesAndBack() {
        let format = AudioFormat(sampleRate: 44100, channels: 2)
        #expect(format.duration(sampleCount: 44100) == MediaTime(seconds: 1))
        for count in [1, 441, 1024, 44099, 10_000_001] {
            #expect(format.sampleCount(in: format.duration(sampleCount: count)) == count)
            #expect(format.sampleCount(in: .zero - format.duration(sampleCount: count)) == -count)
        }
        // Several days, where nanoseconds multiplied by the rate would overflow.
        #expect(format.sampleCount(in: MediaTime(seconds: 1_000_000)) == 44_100_000_000)
    }

    @Test func bytesFollowTheLayout() {
        let packed = AudioFormat(.s16le, sampleRate: 48000, channels: 6)
        #expect(packed.planes == 1)
        #expect(packed.sampleStride == 12)
        #expect(packed.channelMask == 0x3f)
        let planar = AudioFormat(.f32le, sampleRate: 48000, channels: 6, isPlanar: true)
        #expect(planar.planes == 6)
        #expect(planar.sampleStride == 4)
        #expect(planar.byteCount(sampleCount: 10) == 240)
    }

    @Test func impossibleFormatsAreInvalid() {
        #expect(AudioFormat(sampleRate: 48000, channels: 2).isValid)
        #expect(AudioFormat(sampleRate: 48000, channels: 64).isValid)
        #expect(!AudioFormat(sampleRate: 0, channels: 2).isValid)
        #expect(!AudioFormat(sampleRate: 48000, channels: 0).isValid)
        #expect(!AudioFormat(sampleRate: 48000, channels: 65).isValid)
        #expect(!AudioFormat(sampleRate: 48000, channels: 2, channelMask: 0x7).isValid)
    }
}
