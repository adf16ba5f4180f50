# make demo [INPUT=clip.mp4]    Record ten seconds through a Swift filter.
# make elements                Build the sample elements for gst-launch.
# make network                  Build share, receive, join, host and token.
# make install [PREFIX=/usr/local]      Install gst-bridge, its man pages and completions.
# make install-network [PREFIX=...]     The same with the network commands.
# make deb                      Build two Debian packages in .build/deb.
# make release VERSION=x.y.z    Write the files of a release into .build/release-x.y.z.
# make test                     Run all tests: unit, media and live.
# make test-unit, test-media, test-live   Run one layer.
# make smoke                    Run the ten tests that find most mistakes, in less than a minute after a build.
# make test-release              Run the tests of the command against its release build.
# make test-cost                Measure the CPU time of each test.
# make lint, make bench         Check the style; measure costs against C.
# make dead-code                List declarations that nothing uses, or only tests.
# make moving-picture           Make the picture at the top of the README.
# make docs                     Build the documentation; check its examples, and .ci/api.txt.
# make api                      Write the public names to .ci/api.txt.
# make test-thread, test-address   Run the suite under a sanitizer.
# make stress [TIMES=10] [FILTER=...]   Repeat the suite beside two busy processes.
# make fuzz [SECONDS=30]        Fuzz strings, files, pushes, frames, repairs; run the properties.
# make properties [CASES=2000 SEED=1]   Change captures in mid-stream. CASE="..." repeats one case.
# make copied [COPIES=300 SEED=1]   Record media and files of random kinds.
# make faults                   Break recordings, and print what survives. Then attack servers without a token.
# make rtsp-cost [SECONDS=60]   Record an RTSP camera copied and encoded, and compare CPU and packets.
# make wild [WILD=...]          Run gst-launch lines from public documentation, cut in two.
# make soak [MINUTES=2]         Run for long, and report growth.
# Each target installs the Debian packages that it needs.

SHELL := /bin/bash
RUN := .build/release/gst-bridge
# Without SwiftPM's warnings about GStreamer's pkg-config files, and with unchanged command lines from run to run.
SWIFT := .ci/swift
export SWIFT_DETERMINISTIC_HASHING := 1
# Programs link Swift's libraries statically: they start faster, and run without an installed Swift.
# lld's compact relocations and the missing table of exported symbols save 2 MB of file and of memory at start-up.
RELEASE := $(SWIFT) build -c release --static-swift-stdlib -Xswiftc -use-ld=lld \
           -Xlinker -z -Xlinker pack-relative-relocs -Xlinker --no-export-dynamic
PREFIX := /usr/local

LIBRARIES := libgstreamer1.0-dev libgstreamer-plugins-base1.0-dev libyaml-dev pkg-config
PLUGINS := gstreamer1.0-plugins-base gstreamer1.0-plugins-good gstreamer1.0-plugins-bad \
           gstreamer1.0-plugins-ugly gstreamer1.0-libav gstreamer1.0-x gstreamer1.0-nice
TOOLS := gstreamer1.0-tools gstreamer1.0-plugins-base-apps ffmpeg xvfb x11-apps x11-utils xauth valgrind \
         python3-gi gir1.2-gst-rtsp-server-1.0
# Third-party peers, and the test network that connects them. Debian 13 has no janus.
PEERS := chromium-headless-shell ?janus coturn python3-aiortc simple-whip-client gstreamer1.0-nice openssl \
         iproute2 nftables util-linux gcc libc6-dev

.PHONY: smoke docs api moving-picture properties copied soak faults rtsp-cost wild fuzz stress test-unit test-media test-live test-cost test-release test-thread test-address dead-code core demo elements network install install-network deb release test lint bench packages packages-deb packages-test packages-bench packages-picture packages-docs clean

core: packages
	$(RELEASE) --product gst-bridge

demo: core
	@.ci/demo "$(INPUT)"

network: core
	$(RELEASE) --product gst-bridge-network

# The sample elements as one file that needs no Swift on the target machine and exports one function.
elements: packages
	$(SWIFT) build -c release --product gstmediabridge -Xswiftc -static-stdlib \
	    -Xlinker --version-script=.ci/plugin.map -Xlinker -Bsymbolic -Xlinker --gc-sections -Xlinker -s

install: core
	.ci/install core $(PREFIX)

install-network: network
	.ci/install core $(PREFIX)
	.ci/install network $(PREFIX)

deb: network packages-deb
	.ci/deb

# The tarball, the packages, checksums, notes, and the changes of the API. Prints the commands that publish them.
release:
	@.ci/release "$(VERSION)"

test: packages-test
	$(SWIFT) build --build-tests
	.ci/test

# A bridge, a string with an error, files and their clips, a kill and its repair, an end, the engine, its audio, a class
# as an element, and WebRTC.
SMOKE := everyOutputOfAStreamGetsEveryFrame|invalidStringIsAnError|fileHasEveryFrameWithItsTime|aClipIsExactToTheFrame|killedRecordingIsReportedAsInterruptedAndRepairable|everyFrameIsAccountedForAfterAStop|everyFrameIsRenderedOrHasACause|otherUsersHearEverySample|sourceAndSinkWorkInGstLaunch|unitsArriveUnchanged
smoke: packages-test
	$(SWIFT) build --build-tests
	.ci/test all -- --filter "$(SMOKE)"

# One layer of the tests.
test-unit test-media test-live: packages-test
	$(SWIFT) build --build-tests
	.ci/test $(@:test-%=%)

# The tests of the command against its release build: the optimizer may change what a debug build does.
test-release: packages-test core
	$(SWIFT) build --build-tests
	GST_BRIDGE=$(CURDIR)/$(RUN) .ci/test all -- --filter "^CommandTests\\."

# The CPU time of each test.
test-cost: packages-test
	$(SWIFT) build --build-tests
	.ci/test-cost

# Each run competes with two busy processes; one more run uses a single core.
TIMES := 10
stress: packages-test
	$(SWIFT) build --build-tests
	.ci/stress $(TIMES) "$(FILTER)"

# The suite under a sanitizer, each in a separate build. All default deadlines of the library are multiplied to
# allow for the sanitizer's slowdown.
THREAD = --sanitize=thread -Xswiftc -DSANITIZES_THREADS -Xlinker $(CURDIR)/.build/thread/tsan.o \
	--scratch-path .build/thread
test-thread: packages-test
	mkdir -p .build/thread
	"$$(dirname "$$(readlink -f "$$(command -v swift)")")/clang" -c -O1 -fsanitize=thread .ci/tsan.c \
	-o .build/thread/tsan.o
	$(SWIFT) build --build-tests $(THREAD)
	MEDIABRIDGE_DEADLINE_FACTOR=8 \
	TSAN_OPTIONS="ignore_noninstrumented_modules=1 detect_deadlocks=0 suppressions=$(CURDIR)/.ci/tsan.supp" \
	.ci/test -- $(THREAD)

# Suppressions by library need the sanitizer's slow unwinder, which deadlocks in code that Mesa's llvmpipe
# generates at run time. softpipe generates none.
test-address: packages-test
	$(SWIFT) build --build-tests --sanitize=address --scratch-path .build/address
	MEDIABRIDGE_DEADLINE_FACTOR=8 GALLIUM_DRIVER=softpipe \
	G_SLICE=always-malloc ASAN_OPTIONS=fast_unwind_on_malloc=0 \
	LSAN_OPTIONS=suppressions=$(CURDIR)/.ci/lsan.supp:print_suppressions=0 \
	.ci/test -- --sanitize=address --scratch-path .build/address

# Memory that allocators cache would count as in use, and would vary with the load of the machine: caching is
# off. Freed memory is overwritten, so that code that reads it fails.
MINUTES := 2
soak: packages-test
	$(SWIFT) build -c release --product Soak
	G_SLICE=always-malloc GLIBC_TUNABLES=glibc.malloc.tcache_count=0:glibc.malloc.arena_max=1:glibc.malloc.perturb=165 \
	.build/release/Soak --minutes $(MINUTES) --plot .build/soak.svg $(SOAK)
	$(SWIFT) build -c release --product CallProbe
	$(SWIFT) build -c release --product PeerCycleProbe
	.ci/soak-calls .build/release

# SECONDS is the total for the six fuzzers and the properties. SEED selects the captures.
SECONDS := 30
SHARE = $$(( ($(SECONDS) + 6) / 7 ))
fuzz: packages-test
	.ci/fuzz $(SHARE)
	@$(MAKE) properties CASES=1000000 PROPERTIES="--seconds $(SHARE)"
	@$(MAKE) copied RANDOM_MEDIA=randomMediaIsCopiedCompletely
	@$(MAKE) copied COPIES=60 RANDOM_MEDIA=everyClipHasEachFrameOnce

# FROM=7 CASES=1 repeats case 7. PROPERTIES="--seconds 600", "--only rate@,size@", "--keep DIR"
CASES := 2000
SEED := 1
FROM := 0
properties: packages-test
	$(SWIFT) build --product gst-bridge
	$(SWIFT) build --product Properties
	.build/debug/Properties $(if $(CASE),--case "$(CASE)",--cases $(CASES) --seed $(SEED) --from $(FROM)) \
	    $(PROPERTIES)

# COPIES random cases of each kind: encoded media that is copied, audio, pixel formats, streams of files, clips.
COPIES := 300
RANDOM_MEDIA := randomMediaIsCopiedCompletely|randomAudioIsStoredInPlaceOrRefused|everyPixelFormatIsKeptOrReported|recordsOrNamesEveryStreamOfAFile|everyClipHasEachFrameOnce|recordsRandomChangesOfParameterSetsIntoOneFile|everyFrameRateIsKept|restartedSourceIsRecordedIntoOneFile
copied: packages-test
	$(SWIFT) build --build-tests
	COPIED=$(COPIES) SEED=$(SEED) .ci/test all -- --filter '$(RANDOM_MEDIA)'

# The style, and the folder structure.
lint:
	swift format lint --strict --recursive Sources Tests Benchmarks Package.swift
	$(SWIFT) test --filter HouseTests

# The index that a debug build writes.
dead-code: packages-test
	$(SWIFT) build --build-tests
	@.ci/dead-code

docs: packages-docs
	@.ci/docs

moving-picture: core packages-picture
	.ci/moving-picture $(RUN)

api: packages-docs
	@.ci/symbols
	@.ci/api

# FAULTS="--quick", "--only kill-mkv,kill-ts", "--seed 7", "--list"; STRANGERS="SECONDS CONNECTIONS"
faults: packages-test
	$(SWIFT) build --product gst-bridge
	$(SWIFT) build --product FaultSuite
	$(SWIFT) build --product gst-bridge-network
	@.build/debug/FaultSuite $(FAULTS)
	@[ -n "$(FAULTS)" ] || .ci/strangers .build/debug $(STRANGERS)

# SECONDS is the length of each of the two recordings.
rtsp-cost: SECONDS := 60
rtsp-cost: packages-test
	$(SWIFT) build -c release --product gst-bridge
	@.ci/rtsp-cost $(SECONDS)

# WILD="--sample 3", "--family vendors", "--only oggmux-camera --keep DIR", "--list"
wild: packages-test
	$(SWIFT) build --product gst-bridge
	$(SWIFT) build --product Wild
	@.build/debug/Wild $(WILD)

# BENCH="--only bridge --rounds 9", "--list". FULL=1 takes half an hour: it also counts instructions and
# allocations, and includes OpenCV.
bench: packages-bench network
	$(SWIFT) build -c release --product MixProbe
	$(SWIFT) build -c release --package-path Benchmarks
	Benchmarks/.build/release/bench $(if $(FULL),--full) --json .build/bench.json \
	    --markdown .build/bench.md --svg .build/bench.svg $(BENCH)
	$(if $(FULL),Benchmarks/.build/release/sync-bench)

packages-deb:
	@.ci/packages dpkg-dev

packages:
	@.ci/packages $(LIBRARIES) $(PLUGINS)

packages-test:
	@.ci/packages $(LIBRARIES) $(PLUGINS) $(TOOLS) $(PEERS)

packages-bench:
	@.ci/packages $(LIBRARIES) $(PLUGINS) $(TOOLS) $(PEERS) gir1.2-gst-plugins-base-1.0 \
	    $(if $(FULL),python3-opencv)

packages-picture:
	@.ci/packages $(LIBRARIES) $(PLUGINS) $(TOOLS) fonts-dejavu-core openbox x11-xserver-utils xterm

packages-docs:
	@.ci/packages $(LIBRARIES) jq python3

clean:
	rm -rf .build Benchmarks/.build Tests/Programs/Fuzz/.build
