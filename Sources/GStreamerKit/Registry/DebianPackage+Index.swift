// Generated from Debian 12's own package metadata (the Gstreamer-* fields of
// `apt-cache dumpavail`). Element families of gstreamer1.0-libav are recognised by their prefix, in
// DebianPackage.swift.

extension DebianPackage {
    /// In order of preference, for elements and types that several packages provide.
    static let index: [Contents] = [
        Contents(
            package: "gstreamer1.0-plugins-base",
            elements: """
                adder appsink appsrc audioconvert audiointerleave audiomixer audiorate audioresample
                audiotestsrc cdparanoiasrc compositor decodebin decodebin3 encodebin encodebin2
                giosink giosrc giostreamsink giostreamsrc liveadder multifdsink multisocketsink
                oggaviparse oggdemux oggmux oggparse ogmaudioparse ogmtextparse ogmvideoparse
                opusdec opusenc overlaycomposition parsebin playbin playbin3 playsink rawaudioparse
                rawvideoparse socketsrc ssaparse streamsynchronizer subparse subtitleoverlay
                tcpclientsink tcpclientsrc tcpserversink tcpserversrc theoradec theoraenc
                theoraparse unalignedaudioparse unalignedvideoparse uridecodebin uridecodebin3
                urisourcebin videoconvert videoconvertscale videorate videoscale videotestsrc volume
                vorbisdec vorbisenc vorbisparse vorbistag
                """,
            decoders: """
                application/kate application/ogg application/x-ass application/x-ogg-avi
                application/x-ogm-audio application/x-ogm-text application/x-ogm-video
                application/x-ssa application/x-subtitle application/x-subtitle-dks
                application/x-subtitle-lrc application/x-subtitle-mpl2 application/x-subtitle-qttext
                application/x-subtitle-sami application/x-subtitle-tmplayer
                application/x-subtitle-vtt audio/ogg audio/x-opus audio/x-unaligned-raw
                audio/x-vorbis video/ogg video/x-theora video/x-unaligned-raw
                """,
            encoders: """
                application/ogg audio/ogg audio/x-opus audio/x-vorbis video/ogg video/x-theora
                """,
            uriSources: """
                appsrc cdda file resource
                """),
        Contents(
            package: "gstreamer1.0-plugins-good",
            elements: """
                3gppmux aacparse aasink aatv ac3parse agingtv alawdec alawenc alpha alphacolor
                amrparse apedemux apev2mux aspectratiocrop asteriskh263 audioamplify audiochebband
                audiocheblimit audiodynamic audioecho audiofirfilter audioiirfilter audioinvert
                audiokaraoke audiopanorama audiowsincband audiowsinclimit auparse autoaudiosink
                autoaudiosrc autovideosink autovideosrc avidemux avimux avisubtitle breakmydata
                cacasink cacatv cairooverlay capssetter cpureport cutter dcaparse deinterlace
                deinterleave dicetv dtmfsrc dv1394src dvdec dvdemux dynudpsink edgetv
                equalizer-10bands equalizer-3bands equalizer-nbands flacdec flacenc flacparse
                flactag flvdemux flvmux flxdec gamma gdkpixbufdec gdkpixbufoverlay gdkpixbufsink
                goom goom2k1 hdv1394src icydemux id3demux id3v2mux imagefreeze imagesequencesrc
                interleave ismlmux jackaudiosink jackaudiosrc jpegdec jpegenc lamemp3enc level
                matroskademux matroskamux matroskaparse mj2mux monoscope mp4mux mpegaudioparse
                mpg123audiodec mulawdec mulawenc multifilesink multifilesrc multipartdemux
                multipartmux multiudpsink navigationtest navseek optv oss4sink oss4src osssink
                osssrc pngdec pngenc progressreport pulsesink pulsesrc pushfilesrc qtdemux
                qtmoovrecover qtmux quarktv radioactv revtv rganalysis rglimiter rgvolume rippletv
                rndbuffersize rtpL16depay rtpL16pay rtpL24depay rtpL24pay rtpL8depay rtpL8pay
                rtpac3depay rtpac3pay rtpamrdepay rtpamrpay rtpbin rtpbvdepay rtpbvpay rtpceltdepay
                rtpceltpay rtpdec rtpdtmfdepay rtpdtmfmux rtpdtmfsrc rtpdvdepay rtpdvpay rtpfunnel
                rtpg722depay rtpg722pay rtpg723depay rtpg723pay rtpg726depay rtpg726pay rtpg729depay
                rtpg729pay rtpgsmdepay rtpgsmpay rtpgstdepay rtpgstpay rtph261depay rtph261pay
                rtph263depay rtph263pay rtph263pdepay rtph263ppay rtph264depay rtph264pay
                rtph265depay rtph265pay rtphdrextclientaudiolevel rtphdrextcolorspace rtphdrextmid
                rtphdrextntp64 rtphdrextrepairedstreamid rtphdrextstreamid rtphdrexttwcc
                rtpilbcdepay rtpilbcpay rtpisacdepay rtpisacpay rtpj2kdepay rtpj2kpay
                rtpjitterbuffer rtpjpegdepay rtpjpegpay rtpklvdepay rtpklvpay rtpldacpay
                rtpmp1sdepay rtpmp2tdepay rtpmp2tpay rtpmp4adepay rtpmp4apay rtpmp4gdepay rtpmp4gpay
                rtpmp4vdepay rtpmp4vpay rtpmpadepay rtpmpapay rtpmparobustdepay rtpmpvdepay
                rtpmpvpay rtpmux rtpopusdepay rtpopuspay rtppcmadepay rtppcmapay rtppcmudepay
                rtppcmupay rtpptdemux rtpqcelpdepay rtpreddec rtpredenc rtprtxqueue rtprtxreceive
                rtprtxsend rtpsbcdepay rtpsbcpay rtpsession rtpsirendepay rtpsirenpay rtpspeexdepay
                rtpspeexpay rtpssrcdemux rtpst2022-1-fecdec rtpst2022-1-fecenc rtpstorage
                rtpstreamdepay rtpstreampay rtpsv3vdepay rtptheoradepay rtptheorapay rtpulpfecdec
                rtpulpfecenc rtpvorbisdepay rtpvorbispay rtpvp8depay rtpvp8pay rtpvp9depay rtpvp9pay
                rtpvrawdepay rtpvrawpay rtpxqtdepay rtspsrc sbcparse scaletempo shagadelictv
                shapewipe shout2send smpte smptealpha spectrum speexdec speexenc splitfilesrc
                splitmuxsink splitmuxsrc stereo streaktv taginject testsink twolamemp2enc udpsink
                udpsrc v4l2radio v4l2sink v4l2src vertigotv videobalance videobox videocrop
                videoflip videomedian videomixer vp8dec vp8enc vp9dec vp9enc warptv wavenc
                wavpackdec wavpackenc wavpackparse wavparse webmmux ximagesrc xingmux y4menc
                """,
            decoders: """
                application/x-3gp application/x-apetag application/x-icy application/x-id3
                application/x-rtp application/x-subtitle-avi audio/ac3 audio/mpeg audio/webm
                audio/x-ac3 audio/x-alaw audio/x-amr-nb-sh audio/x-amr-wb-sh audio/x-au audio/x-dts
                audio/x-eac3 audio/x-flac audio/x-m4a audio/x-matroska audio/x-mulaw
                audio/x-private1-ac3 audio/x-private1-dts audio/x-rf64 audio/x-sbc audio/x-speex
                audio/x-wav audio/x-wavpack audio/x-wavpack-correction image/jpeg image/png
                multipart/x-mixed-replace video/mj2 video/quicktime video/webm video/x-dv
                video/x-fli video/x-flv video/x-matroska video/x-matroska-3d video/x-msvideo
                video/x-vp8 video/x-vp9
                """,
            encoders: """
                application/x-rtcp-stream application/x-rtp application/x-rtp-stream
                application/x-srtcp-stream application/x-srtp-stream application/x-yuv4mpeg
                audio/mpeg audio/webm audio/x-alaw audio/x-flac audio/x-matroska audio/x-mulaw
                audio/x-rf64 audio/x-speex audio/x-wav audio/x-wavpack-correction image/jpeg
                image/png multipart/x-mixed-replace video/mj2 video/quicktime video/webm video/x-flv
                video/x-matroska video/x-matroska-3d video/x-msvideo video/x-vp8 video/x-vp9
                """,
            uriSources: """
                dv hdv imagesequence multifile pushfile radio rtsp rtsp-sdp rtsph rtsps rtspsh
                rtspst rtspsu rtspt rtspu splitfile splitmux udp v4l2
                """),
        Contents(
            package: "gstreamer1.0-plugins-bad",
            elements: """
                a2dpsink accurip adpcmdec adpcmenc aesdec aesenc aiffmux aiffparse alphacombine
                asfmux asfparse assrender atscmux audiobuffersplit audiochannelmix audiolatency
                audiomixmatrix audioparse audiosegmentclip autoconvert autovideoconvert av1dec
                av1enc av1parse avdtpsink avdtpsrc avwait bayer2rgb bpmdetect bs2b bulge burn bz2dec
                bz2enc camerabin cc708overlay cccombiner ccconverter ccextractor checksumsink
                chopmydata chromahold chromaprint chromium circle clockselect codecalphademux
                coloreffects combdetect compare curlfilesink curlftpsink curlhttpsink curlhttpsrc
                curlsftpsink curlsmtpsink dashdemux dashsink dc1394src debugqroverlay debugspy
                decklinkaudiosink decklinkaudiosrc decklinkvideosink decklinkvideosrc dfbvideosink
                diffuse dilate diracparse dodge dtlsdec dtlsenc dtlssrtpdec dtlssrtpdemux
                dtlssrtpenc dtmfdetect dtsdec dvbbasebin dvbsrc dvbsubenc dvbsuboverlay dvdspu
                errorignore exclusion faad faceoverlay fakeaudiosink fakevideosink fbdevsink
                festival fieldanalysis fisheye flitetestsrc fluiddec fpsdisplaysink freeverb
                gaussianblur gdpdepay gdppay gmedec gsmdec gsmenc gtkwaylandsink h263parse h264parse
                h264timestamper h265parse h265timestamper hlsdemux hlssink hlssink2 id3mux
                interaudiosink interaudiosrc interlace intersubsink intersubsrc intervideosink
                intervideosrc ipcpipelinesink ipcpipelinesrc ipcslavepipeline irtspparse ivfparse
                ivtc jifmux jp2kdecimator jpeg2000parse jpegparse kaleidoscope katedec kateenc
                kateparse katetag kmssink ladspa-amp-so-amp-mono ladspa-amp-so-amp-stereo
                ladspa-delay-so-delay-5s ladspa-filter-so-hpf ladspa-filter-so-lpf
                ladspa-sine-so-sine-faaa ladspa-sine-so-sine-faac ladspa-sine-so-sine-fcaa
                ladspasrc-noise-so-noise-white ladspasrc-sine-so-sine-fcac lcms ldacenc libde265dec
                line21decoder line21encoder marble midiparse mirror modplug mpeg2enc mpeg4videoparse
                mpegpsdemux mpegpsmux mpegtsmux mpegvideoparse mplex mssdemux musepackdec mxfdemux
                mxfmux neonhttpsrc netsim openalsink openalsrc openaptxdec openaptxenc openexrdec
                openh264dec openh264enc openjpegdec openjpegenc openmptdec openni2src opusparse
                pcapparse perspective pinch pitch pngparse pnmdec pnmenc proxysink proxysrc
                qroverlay removesilence rfbsrc rgb2bayer ristrtpdeext ristrtpext ristrtxreceive
                ristrtxsend ristsink ristsrc rotate roundrobin rsndvdbin rsvgdec rsvgoverlay
                rtmp2sink rtmp2src rtmpsink rtmpsrc rtpasfpay rtponvifparse rtponviftimestamp
                rtpsink rtpsrc sbcdec sbcenc scenechange sctpdec sctpenc sdpdemux sdpsrc sfdec
                shmsink shmsrc simplevideomark simplevideomarkdetect sirendec sirenenc smooth
                solarize spacescope spanplc spectrascope speed sphere square srtclientsink
                srtclientsrc srtenc srtpdec srtpenc srtserversink srtserversrc srtsink srtsrc
                stretch switchbin synaescope teletextdec testsrcbin timecodestamper tonegeneratesrc
                transcodebin tsdemux tsparse ttmlparse ttmlrender tunnel twirl uritranscodebin
                uvch264mjpgdemux uvch264src vc1parse videoanalyse videocodectestsink videodiff
                videoframe-audiolevel videoparse videosegmentclip viewfinderbin vmncdec voaacenc
                voamrwbenc vp8alphadecodebin vp9alphadecodebin vp9parse vulkancolorconvert
                vulkandownload vulkanimageidentity vulkanoverlaycompositor vulkanshaderspv
                vulkansink vulkanupload vulkanviewconvert watchdog waterripple wavescope waylandsink
                webpdec webpenc webrtcbin webrtcdsp webrtcechoprobe webvttenc wildmididec
                wrappercamerabinsrc x265enc y4mdec zbar zebrastripe zxing
                """,
            decoders: """
                application/dash+xml application/mxf application/vnd.ms-sstr+xml application/x-hls
                application/x-yuv4mpeg audio/midi audio/mpeg audio/ms-gsm audio/riff-midi
                audio/x-adpcm audio/x-aiff audio/x-ay audio/x-dts audio/x-gbs audio/x-gsm
                audio/x-gym audio/x-hes audio/x-ircam audio/x-it audio/x-kss audio/x-midi-event
                audio/x-mod audio/x-musepack audio/x-nist audio/x-nsf audio/x-paris
                audio/x-private1-dts audio/x-rf64 audio/x-s3m audio/x-sap audio/x-sbc audio/x-sds
                audio/x-siren audio/x-spc audio/x-stm audio/x-svx audio/x-vgm audio/x-voc
                audio/x-w64 audio/x-xi audio/x-xm image/jp2 image/png image/svg image/svg+xml
                image/webp image/x-exr image/x-j2c image/x-jpc image/x-jpc-striped
                image/x-portable-anymap image/x-portable-bitmap image/x-portable-graymap
                image/x-portable-pixmap subtitle/x-kate video/mpeg video/mpegts video/x-av1
                video/x-cdxa video/x-divx video/x-h263 video/x-h264 video/x-h265 video/x-ivf
                video/x-vmnc video/x-vp8 video/x-vp9
                """,
            encoders: """
                application/mxf application/x-bzip application/x-dtls application/x-gdp
                application/x-kate application/x-rtp application/x-sctp application/x-subtitle
                application/x-subtitle-vtt audio/AMR-WB audio/aptx audio/aptx-hd audio/mpeg
                audio/x-adpcm audio/x-aiff audio/x-gsm audio/x-ldac audio/x-sbc audio/x-siren
                image/jp2 image/webp image/x-j2c image/x-jpc image/x-jpc-striped
                image/x-portable-anymap image/x-portable-bitmap image/x-portable-graymap
                image/x-portable-pixmap subtitle/x-kate video/mpeg video/mpegts video/x-av1
                video/x-h264 video/x-h265 video/x-ms-asf
                """,
            uriSources: """
                dvb dvd http https rfb rist rtmfp rtmp rtmpe rtmps rtmpt rtmpte rtmpts rtp sdp srt
                testbin
                """),
        Contents(
            package: "gstreamer1.0-plugins-ugly",
            elements: """
                a52dec amrnbdec amrnbenc amrwbdec asfdemux cdiocddasrc dvdlpcmdec dvdreadsrc
                dvdsubdec dvdsubparse mpeg2dec pnmsrc rademux rdtdepay rdtmanager rmdemux
                rtpasfdepay rtspreal rtspwms siddec x264enc
                """,
            decoders: """
                application/vnd.rn-realmedia application/x-pn-realaudio application/x-rdt
                application/x-rtp audio/AMR audio/AMR-WB audio/ac3 audio/x-ac3 audio/x-lpcm
                audio/x-private-ts-lpcm audio/x-private1-ac3 audio/x-private1-lpcm
                audio/x-private2-lpcm audio/x-sid video/mpeg video/x-ms-asf
                """,
            encoders: """
                audio/AMR video/x-h264
                """,
            uriSources: """
                cdda dvd pnm
                """),
        Contents(
            package: "gstreamer1.0-libav",
            elements: """
                avdeinterlace
                """,
            decoders: """
                application/gxf application/mxf application/x-ape application/x-gst-av-avs
                application/x-gst-av-daud application/x-gst-av-dsf application/x-gst-av-ea
                application/x-gst-av-film_cpk application/x-gst-av-idcin application/x-gst-av-iff
                application/x-gst-av-ipmovie application/x-gst-av-mm application/x-gst-av-mmf
                application/x-gst-av-nut application/x-gst-av-nuv application/x-gst-av-psxstr
                application/x-gst-av-smk application/x-gst-av-sol application/x-gst-av-vmd
                application/x-gst-av-wc3movie application/x-gst-av-wsaud application/x-gst-av-wsvqa
                application/x-gst-av-xwma application/x-yuv4mpeg audio/AMR audio/AMR-WB audio/G722
                audio/G729 audio/aptx audio/aptx-hd audio/mpeg audio/ms-gsm audio/qcelp audio/x-ac3
                audio/x-adpcm audio/x-aiff audio/x-alac audio/x-bfstm audio/x-brstm audio/x-dpcm
                audio/x-dsd audio/x-dts audio/x-dv audio/x-eac3 audio/x-ffmpeg-parsed-ape
                audio/x-ffmpeg-parsed-musepack audio/x-flac audio/x-gsm audio/x-gst-av-mp3adufloat
                audio/x-gst-av-mp3on4float audio/x-gst-av-vmdaudio audio/x-gst-av-ws_snd1
                audio/x-imc audio/x-mace audio/x-mlp audio/x-musepack audio/x-nellymoser
                audio/x-opus audio/x-pn-realaudio audio/x-qdm2 audio/x-shorten audio/x-sipro
                audio/x-smpte-302m audio/x-true-hd audio/x-truespeech audio/x-tta audio/x-ttafile
                audio/x-twin-vq audio/x-vnd.sony.atrac1 audio/x-vnd.sony.atrac3 audio/x-voc
                audio/x-voxware audio/x-wma audio/x-wms audio/x-xma image/bmp image/gif
                image/gst-libav-gif image/jp2 image/jpeg image/pbm image/png image/ppm image/tiff
                image/x-j2c image/x-jpc image/x-pcx image/x-portable-anymap image/x-portable-graymap
                image/x-sgi image/x-sun-raster image/x-tga unknown/unknown video/mpeg video/sp5x
                video/x-4xm video/x-aasc video/x-amv video/x-apple-intermediate-codec
                video/x-apple-video video/x-asus video/x-ati-vcr video/x-camstudio video/x-camtasia
                video/x-cavs video/x-cineform video/x-cinepak video/x-cirrus-logic-accupak
                video/x-compressed-yuv video/x-divx video/x-dnxhd video/x-dv video/x-ffv
                video/x-flash-screen video/x-flash-screen2 video/x-flash-video video/x-fraps
                video/x-gst-av-8bps video/x-gst-av-avs video/x-gst-av-ffvhuff video/x-gst-av-flic
                video/x-gst-av-idcinvideo video/x-gst-av-interplayvideo video/x-gst-av-mdec
                video/x-gst-av-mmvideo video/x-gst-av-pgmyuv video/x-gst-av-qpeg
                video/x-gst-av-roqvideo video/x-gst-av-vmdvideo video/x-gst-av-vqavideo
                video/x-gst-av-wnv1 video/x-gst-av-xl video/x-h261 video/x-h263 video/x-h264
                video/x-h265 video/x-huffyuv video/x-indeo video/x-intel-h263 video/x-ivf
                video/x-kmvc video/x-lagarith video/x-loco video/x-mimic video/x-mjpeg-b
                video/x-msmpeg video/x-msvideocodec video/x-mszh video/x-nsv video/x-nuv
                video/x-pn-realvideo video/x-prores video/x-pva video/x-qdrw video/x-rle video/x-smc
                video/x-speedhq video/x-svq video/x-truemotion video/x-tscc video/x-ultimotion
                video/x-vmnc video/x-vp3 video/x-vp5 video/x-vp6 video/x-vp6-alpha video/x-vp6-flash
                video/x-vp8 video/x-vp9 video/x-wmv video/x-xan video/x-zmbv
                """,
            encoders: """
                application/gxf application/mxf application/ogg application/x-gst-av-a64
                application/x-gst-av-adts application/x-gst-av-adx application/x-gst-av-alp
                application/x-gst-av-amv application/x-gst-av-apm application/x-gst-av-apng
                application/x-gst-av-argo_asf application/x-gst-av-argo_cvg
                application/x-gst-av-asf_stream application/x-gst-av-ast application/x-gst-av-avif
                application/x-gst-av-avm2 application/x-gst-av-avs3 application/x-gst-av-bit
                application/x-gst-av-caf application/x-gst-av-chromaprint
                application/x-gst-av-codec2 application/x-gst-av-dash application/x-gst-av-daud
                application/x-gst-av-dvd application/x-gst-av-f4v application/x-gst-av-film_cpk
                application/x-gst-av-filmstrip application/x-gst-av-fits application/x-gst-av-hash
                application/x-gst-av-hds application/x-gst-av-hls application/x-gst-av-ico
                application/x-gst-av-ilbc application/x-gst-av-ircam application/x-gst-av-ismv
                application/x-gst-av-kvag application/x-gst-av-latm application/x-gst-av-md5
                application/x-gst-av-mkvtimestamp_v2 application/x-gst-av-mmf
                application/x-gst-av-mpjpeg application/x-gst-av-mxf_opatom application/x-gst-av-nut
                application/x-gst-av-obu application/x-gst-av-oga application/x-gst-av-ogv
                application/x-gst-av-oma application/x-gst-av-opus application/x-gst-av-rso
                application/x-gst-av-rtsp application/x-gst-av-sap application/x-gst-av-smjpeg
                application/x-gst-av-smoothstreaming application/x-gst-av-sox
                application/x-gst-av-spdif application/x-gst-av-spx application/x-gst-av-streamhash
                application/x-gst-av-svcd application/x-gst-av-uncodedframecrc
                application/x-gst-av-vc1test application/x-gst-av-vcd application/x-gst-av-vidc
                application/x-gst-av-vob application/x-gst-av-w64 application/x-gst-av-webp
                application/x-gst-av-wsaud application/x-gst-av-wtv application/x-pn-realmedia
                application/x-shockwave-flash application/x-yuv4mpeg audio/G722 audio/aptx
                audio/aptx-hd audio/mpeg audio/x-ac3 audio/x-adpcm audio/x-aiff audio/x-alac
                audio/x-amr-nb-sh audio/x-au audio/x-dpcm audio/x-dts audio/x-eac3 audio/x-mlp
                audio/x-nellymoser audio/x-pn-realaudio audio/x-smpte-302m audio/x-true-hd
                audio/x-tta audio/x-ttafile audio/x-voc audio/x-wav audio/x-wma image/bmp image/jpeg
                image/pbm image/png image/ppm image/tiff image/x-j2c image/x-pcx
                image/x-portable-anymap image/x-portable-graymap image/x-sgi image/x-sun-raster
                image/x-tga unknown/unknown video/mpeg video/mpegts video/quicktime video/x-amv
                video/x-apple-video video/x-asus video/x-cineform video/x-cinepak
                video/x-cirrus-logic-accupak video/x-divx video/x-dnxhd video/x-dv video/x-ffv
                video/x-flash-screen video/x-flash-screen2 video/x-flash-video video/x-flv
                video/x-gst-av-ffvhuff video/x-gst-av-pgmyuv video/x-gst-av-roqvideo video/x-h261
                video/x-h263 video/x-h264 video/x-huffyuv video/x-ivf video/x-matroska
                video/x-ms-asf video/x-msmpeg video/x-msvideo video/x-msvideocodec
                video/x-pn-realvideo video/x-prores video/x-rle video/x-smc video/x-speedhq
                video/x-svq video/x-wmv video/x-zmbv
                """),
        Contents(
            package: "gstreamer1.0-alsa",
            elements: """
                alsamidisrc alsasink alsasrc
                """),
        Contents(
            package: "gstreamer1.0-gl",
            elements: """
                glalpha glcolorbalance glcolorconvert glcolorscale gldeinterlace gldifferencematte
                gldownload gleffects gleffects_blur gleffects_bulge gleffects_fisheye gleffects_glow
                gleffects_heat gleffects_identity gleffects_laplacian gleffects_lumaxpro
                gleffects_mirror gleffects_sepia gleffects_sin gleffects_sobel gleffects_square
                gleffects_squeeze gleffects_stretch gleffects_tunnel gleffects_twirl gleffects_xpro
                gleffects_xray glfilterapp glfilterbin glfiltercube glfilterglass glimagesink
                glimagesinkelement glmixerbin glmosaic gloverlay gloverlaycompositor glshader
                glsinkbin glsrcbin glstereomix glstereosplit gltestsrc gltransformation glupload
                glvideoflip glvideomixer glvideomixerelement glviewconvert
                """),
        Contents(
            package: "gstreamer1.0-gtk3",
            elements: """
                gtkglsink gtksink
                """),
        Contents(
            package: "gstreamer1.0-opencv",
            elements: """
                cameracalibrate cameraundistort cvdilate cvequalizehist cverode cvlaplace cvsmooth
                cvsobel cvtracker dewarp disparity edgedetect faceblur facedetect grabcut handdetect
                motioncells opencvtextoverlay retinex segmentation skindetect templatematch
                """),
        Contents(
            package: "gstreamer1.0-pocketsphinx",
            elements: """
                pocketsphinx
                """),
        Contents(
            package: "gstreamer1.0-qt5",
            elements: """
                qmlgloverlay qmlglsink qmlglsrc
                """),
        Contents(
            package: "gstreamer1.0-qt6",
            elements: """
                qml6glsink
                """),
        Contents(
            package: "gstreamer1.0-wpe",
            elements: """
                wpesrc wpevideosrc
                """,
            uriSources: """
                web+file web+http web+https
                """),
        Contents(
            package: "gstreamer1.0-x",
            elements: """
                clockoverlay textoverlay textrender timeoverlay ximagesink xvimagesink
                """),
        Contents(package: "gstreamer1.0-nice", elements: "nicesrc nicesink"),
        Contents(
            package: "gstreamer1.0-pipewire",
            elements: "pipewiresrc pipewiresink pipewiredeviceprovider"),
    ]
}
