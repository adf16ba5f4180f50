import MediaBridgeAgora
import MediaCore
import Testing

/// The numeric values that code for RTC SDKs uses.
@Suite struct SDKValueTests {
    @Test(
        arguments: [
            (1, "I420"), (2, "BGRA"), (3, "NV21"), (4, "RGBA"), (5, "I420"), (7, "ARGB"),
            (8, "NV12"), (16, "Y42B"),
        ])
    func everyPushModeNumberIsAFormat(number: Int, name: String) {
        #expect(VideoPixelFormat(push: PushFormat(rawValue: number))?.rawValue == name)
    }

    @Test func pushModeNumbersHaveNames() {
        let named: [(PushFormat, Int)] = [
            (.i420, 1), (.bgra, 2), (.nv21, 3), (.rgba, 4), (.imc2, 5), (.argb, 7), (.nv12, 8),
            (.pixelBuffer, 12), (.i422, 16),
        ]
        for (format, number) in named { #expect(format.rawValue == number) }
        let literal: PushFormat = 12
        #expect(literal == .pixelBuffer)
    }

    @Test(arguments: [0, 6, 9, 10, 11, 12, 13, 14, 15, 17, -1, .max, .min])
    func otherPushModeNumbersAreNotFormats(number: Int) {
        #expect(VideoPixelFormat(push: PushFormat(rawValue: number)) == nil)
    }

    @Test func mediaIONumbersAreFormats() {
        #expect(VideoPixelFormat(mediaIO: 1) == .i420)
        #expect(VideoPixelFormat(mediaIO: 2) == .bgra)
        #expect(VideoPixelFormat(mediaIO: 8) == .nv12)
        for number in [0, 3, 4, 5, 7, 12, 16, -1, .max, .min] {
            #expect(VideoPixelFormat(mediaIO: number) == nil)
        }
        // With the spelling of the SDK headers.
        #expect(VideoPixelFormat.I420 == .i420)
        #expect(VideoPixelFormat.BGRA == .bgra)
        #expect(VideoPixelFormat.NV12 == .nv12)
    }

    @Test func rotationsAreDegreesClockwise() {
        #expect(VideoRotation.allCases.map(\.rawValue) == [0, 90, 180, 270])
        #expect(VideoRotation.rotationNone == .upright)
        for degrees in [1, 45, 89, 360, -90, .max, .min] {
            #expect(VideoRotation(rawValue: degrees) == nil)
        }
    }

    @Test func theOtherValuesHaveTheSDKsNumbers() {
        #expect([VideoBufferType.pixelBuffer, .rawData].map(\.rawValue) == [1, 2])
        #expect([VideoCaptureType.unknown, .camera, .screen].map(\.rawValue) == [0, 1, 2])
        #expect(
            [VideoContentHint.unspecified, .motion, .details, .text].map(\.rawValue) == [
                0, 1, 2, 3,
            ])
        #expect([VideoMirrorMode.automatic, .enabled, .disabled].map(\.rawValue) == [0, 1, 2])
        #expect([VideoRenderMode.hidden, .fit].map(\.rawValue) == [1, 2])
    }

    @Test func emptyConversionChangesNothing() {
        let format = VideoFormat(.i420, width: 5, height: 3)
        var wide = format
        wide.pixelAspectRatio = VideoFormat.Rational(16, 15)
        #expect(!VideoConversion().changes(format))
        #expect(!VideoConversion(pixelFormat: .any).changes(format))
        #expect(!VideoConversion(pixelFormat: .i420).changes(wide))
        #expect(!VideoConversion(size: VideoSize(width: 5, height: 3)).changes(format))
        #expect(VideoConversion(size: VideoSize(width: 5, height: 3)).changes(wide))
        #expect(VideoConversion(size: VideoSize(width: 3, height: 5)).changes(format))
        #expect(VideoConversion(pixelFormat: .nv12).changes(format))
        #expect(VideoConversion(rotation: .rotation180).changes(format))
        #expect(VideoConversion(isMirrored: true).changes(format))
    }
}
