#!/bin/sh
# Builds the SDK and the probe into a folder: `build.sh OUT`, then `OUT/probe swift`.
# A probe of your own afterwards: swiftc -O -I OUT my_probe.swift OUT/libTaskscaleProbe.a -o my_probe
set -eu
mkdir -p "$1"
out=$(cd "$1" && pwd)
cd "$(dirname "$0")"
version=$(swiftc --version 2>/dev/null | grep -m 1 version)
printf 'let swiftcVersion = #"%s"#\n' "$version" >"$out/SwiftcVersion.swift"
swiftc -O -wmo -parse-as-library -emit-module -emit-library -static -module-name TaskscaleProbe -D SWIFTC_VERSION \
    -emit-module-path "$out/TaskscaleProbe.swiftmodule" -o "$out/libTaskscaleProbe.a" sdk/*.swift "$out/SwiftcVersion.swift"
swiftc -O -wmo -I "$out" main.swift workloads/*.swift workloads/*/*.swift "$out/libTaskscaleProbe.a" -o "$out/probe"
# URLSession, which the probe loads when it is asked for it. All else is there without it.
swiftc -O -wmo -parse-as-library -emit-library -module-name TaskscaleUrlSession urlsession/*.swift workloads/bytes/BytesSum.swift \
    -o "$out/TaskscaleUrlSession" || echo "built without URLSession"
