"""Black and white with OpenCV, which reads BGR: grayscale.py CAPTURE FRAMES"""
import os
import sys

os.environ["OPENCV_LOG_LEVEL"] = "ERROR"
import cv2  # noqa: E402

capture = cv2.VideoCapture(
    sys.argv[1] + " ! videoconvert ! video/x-raw,format=BGR ! appsink sync=false", cv2.CAP_GSTREAMER)
frames = 0
while True:
    ok, picture = capture.read()
    if not ok:
        break
    cv2.cvtColor(cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY), cv2.COLOR_GRAY2BGR)
    frames += 1
sys.exit(0 if frames == int(sys.argv[2]) else 1)
