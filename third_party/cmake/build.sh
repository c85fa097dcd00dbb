# Sourced by apps/run, test/run and .ci/run: brings a preset's build directory up to date. The
# caller stands in the repository's root.

# Installs what is missing, takes the build lock, configures once and builds TARGETs (everything
# when none is named). Progress goes to stderr, and only to a terminal; errors always show.
corail_build() {
  local preset=$1
  shift
  local targets=() lock
  [[ $# -gt 0 ]] && targets=(--target "$@")
  third_party/install
  mkdir -p build
  # Two programs may be started at the same time from two shells, but ninja wants a build
  # directory for itself.
  exec {lock}>"build/.lock-$preset"
  flock "$lock"
  local status=0
  corail_configure_and_build "$preset" "${targets[@]}" || status=$?
  exec {lock}>&-
  return "$status"
}

corail_configure_and_build() {
  local preset=$1
  shift
  if [[ ! -f build/$preset/build.ninja ]]; then
    # CMake reports progress on stdout and errors on stderr. Ninja repeats this step by itself
    # when a CMakeLists.txt changes.
    cmake --preset "$preset" >/dev/null || return
  fi
  local build=(cmake --build --preset "$preset" --parallel "$(nproc)" "$@") pending
  # Asking first keeps ninja from saying that it has nothing to do.
  pending=$("${build[@]}" -- -n) || return
  if [[ $pending == *"no work to do"* ]]; then
    return 0
  fi
  if [[ -t 2 ]]; then
    "${build[@]}" >&2
  else
    "${build[@]}" -- --quiet >&2
  fi
}
