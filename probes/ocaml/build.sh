#!/bin/sh
# Builds the probe into a folder: `build.sh OUT`, then `OUT/probe ocaml`.
# A probe of your own: `build.sh OUT my_probe.ml`, then `OUT/probe`. Packages that it asks for in lines `#require "NAME"`, as a
# script does, are linked with it. OCAMLFIND names another ocamlfind, with its compiler beside it.
set -eu
mkdir -p "$1"
out=$(cd "$1" && pwd)
own=${2:+$(cd "$(dirname "$2")" && pwd)/$(basename "$2")}
cd "$(dirname "$0")"
ocamlfind=${OCAMLFIND:-ocamlfind}
case $ocamlfind in */*) PATH=$(cd "$(dirname "$ocamlfind")" && pwd):$PATH ;; esac
packages=lwt.unix,yojson,threads.posix

# compile NAME FILE [OPTION..]: a module of that name.
compile() {
    name=$1 file=$2
    shift 2
    "$ocamlfind" ocamlopt -thread -package "$packages" -I "$out" "$@" -c -o "$out/$name.cmx" -impl "$file" || return
    objects="$objects $out/$name.cmx"
}

flambda=$("$ocamlfind" ocamlopt -config-var flambda 2>/dev/null || echo false)
[ "$flambda" = true ] && flambda=" with flambda" || flambda=
printf 'let it = "ocamlopt %s%s, Lwt %s"\n' "$("$ocamlfind" ocamlopt -version)" "$flambda" \
    "$("$ocamlfind" query -format %v lwt)" >"$out/toolchain.ml"

# The SDK is one module, so that none of its parts can be taken for one of a user's.
objects=
compile toolchain "$out/toolchain.ml" -for-pack Taskscale
for name in clock run timing counters probe serve; do
    compile "$name" "sdk/$name.ml" -for-pack Taskscale
done
"$ocamlfind" ocamlopt -I "$out" -pack -o "$out/taskscale.cmx" $objects
(cd "$out" && "$ocamlfind" ocamlopt -c -ccopt -O2 "$OLDPWD/sdk/clock_stubs.c")
objects="$out/clock_stubs.o $out/taskscale.cmx"

if [ -n "$own" ]; then
    packages=$packages$(sed -n 's/^#require "\([^"]*\)".*/,\1/p' "$own" | tr -d '\n')
    { printf '# 1 "%s"\n' "$own"; sed 's/^#require .*//' "$own"; } >"$out/own.ml"
    compile own "$out/own.ml" -g
else
    for name in collector count spin tasks fanout nop parked pingpong remote context idle cancel blocking interp/value interp/program interp/observe; do
        compile "${name#*/}" "workloads/$name.ml"
    done
    # Evaluators are compiled as they stand, which is what is timed, and with what stands between the marks, which counts.
    for name in sync async union inlined hidden; do
        compile "$name" "workloads/interp/$name.ml"
        compile "counted_$name" "workloads/interp/$name.ml" -pp "sed -e 's/(\*|//' -e 's/|\*)//'"
    done
    compile sums workloads/bytes/sums.ml
    compile folds workloads/bytes/folds.ml
    compile counted_folds workloads/bytes/folds.ml -pp "sed -e 's/(\*|//' -e 's/|\*)//'"
    # Server and client are cohttp's, of any version that these sources fit. All else is there without it.
    alone=$packages without=$objects reason=
    packages=$packages,cohttp-lwt-unix
    if version=$("$ocamlfind" query -format %v cohttp-lwt-unix 2>/dev/null); then
        { compile listener workloads/interp/listener_cohttp.ml && compile fetch workloads/bytes/fetch_cohttp.ml; } ||
            reason="the probe does not fit cohttp-lwt-unix $version"
    else
        reason="$ocamlfind has no cohttp-lwt-unix"
    fi
    if [ -n "$reason" ]; then
        packages=$alone objects=$without
        printf 'let reason = {why|%s|why}\n' "$reason" >"$out/absent.ml"
        compile absent "$out/absent.ml"
        compile listener workloads/interp/listener_missing.ml
        compile fetch workloads/bytes/fetch_missing.ml
    fi
    printf '%s\n' "$packages" >"$out/packages"
    compile over_http workloads/interp/over_http.ml
    compile interp workloads/interp/interp.ml
    compile byte_stream workloads/bytes/byte_stream.ml
    compile main main.ml
fi
"$ocamlfind" ocamlopt -thread -package "$packages" -linkpkg -g -o "$out/probe" $objects
