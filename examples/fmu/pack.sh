#!/bin/sh
# Makes FMUs from follow_law.c: follow_law.fmi2.fmu and follow_law.fmi3.fmu, for this machine (x86-64 Linux), in the current
# folder. Needs a C compiler and `zip` or Python.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=$(pwd)
for version in 2 3; do
    case $version in 2) platform=linux64 ;; 3) platform=x86_64-linux ;; esac
    folder=$(mktemp -d)
    mkdir -p "$folder/binaries/$platform"
    "${CC:-cc}" -std=c99 -O2 -ffp-contract=off -fPIC -shared -DFMI=$version \
        -o "$folder/binaries/$platform/follow_law.so" "$here/follow_law.c" -lm
    cp "$here/follow_law.fmi$version.xml" "$folder/modelDescription.xml"
    rm -f "$out/follow_law.fmi$version.fmu"
    (
        cd "$folder"
        if command -v zip > /dev/null; then
            zip -qr "$out/follow_law.fmi$version.fmu" modelDescription.xml binaries
        else
            python3 -m zipfile -c "$out/follow_law.fmi$version.fmu" modelDescription.xml binaries
        fi
    )
    rm -r "$folder"
    echo "follow_law.fmi$version.fmu"
done
