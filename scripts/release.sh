#!/usr/bin/env bash
# Build a release in a new folder, and try it as a stranger would.
#
#   bash scripts/release.sh FOLDER
#
# Builds everything twice, which must give the same bytes; compares the licences of what is installed
# with SBOM and NOTICE; runs the README's commands as a new user; installs the wheel by pip alone, from
# the registry and then from a folder of wheels without any network, and runs scripts/try_wheel.py.
# Needs uv, and Linux for the last.
set -euo pipefail
folder=$(realpath -m "$1")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
python=${PYTHON:-python3}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

say() { printf '\n=== %s (%s s)\n' "$*" "$SECONDS"; }
size() { du -sm "$1" | cut -f1; }

clean() { # run a command in the environment of a new user: nothing but where packages come from
  mkdir -p "$scratch/home"
  env -i HOME="$scratch/home" PATH=/usr/local/bin:/usr/bin:/bin LANG=C.UTF-8 TERM=xterm-256color \
    $(env | grep -E '^((PIP|UV)_[A-Z_]+|SSL_CERT_FILE)=[^ ]*$' || true) "$@"
}

install() { # NAME ARGUMENTS...: a new environment and what pip installs there
  local venv=$scratch/$1 began=$SECONDS
  shift
  clean "$python" -m venv "$venv"
  clean "$venv/bin/pip" install --quiet "$@"
  clean "$venv/bin/pip" check
  printf 'installed in %s s, %s MB: ' $((SECONDS - began)) "$(size "$venv")"
  clean "$venv/bin/pip" list --format freeze | wc -l
}

say "build, twice"
python3 -m scripts.build_release "$folder"
python3 -m scripts.build_release "$scratch/again"
diff -r "$folder" "$scratch/again"
(cd "$folder" && sha256sum --check --quiet SHA256SUMS && ls -l)
wheel=$(echo "$folder"/*.whl)

say "licences of what is installed"
uv venv --quiet --python "$python" "$scratch/all"
uv pip install --quiet --python "$scratch/all" --require-hashes -r "$folder/requirements-all.txt"
uv tool run --quiet pip-licenses --python "$scratch/all/bin/python" --format json \
  --with-license-file --no-license-path > "$scratch/licences.json"
python3 -m scripts.check_licences "$folder" "$scratch/licences.json"

say "the commands of the README, in a fresh clone"
git clone --quiet . "$scratch/clone"
clean "$python" -m venv "$scratch/fresh"
readme() { # COMMAND: a new user runs it, with an empty cache
  local began=$SECONDS
  (cd "$scratch/clone" && clean PATH="$scratch/fresh/bin:/usr/local/bin:/usr/bin:/bin" bash -c "$1")
  printf '%s: %s s, %s MB\n' "$1" $((SECONDS - began)) "$(size "$scratch/clone/.venv")"
}
mapfile -t commands < <(sed -n 's/^    \(pip install uv .*\)/\1/p' README.md)
readme "${commands[0]} --smoke"
readme "${commands[1]} -n 0 tests/contract/test_help.py"

say "the wheel, by pip alone"
install registry "$wheel[web]"
clean "$scratch/registry/bin/python" scripts/try_wheel.py "$scratch/used"

say "the same from a folder of wheels, without a network"
clean "$scratch/registry/bin/pip" download --quiet --dest "$scratch/wheels" "$wheel[web]"
printf '%s MB of wheels\n' "$(size "$scratch/wheels")"
export -f clean install size
export scratch python wheel
unshare --map-root-user --net bash -euc '
  ip link set lo up
  install offline --no-index --find-links "$scratch/wheels" "$wheel[web]"
  clean "$scratch/offline/bin/python" scripts/try_wheel.py "$scratch/used-offline"'

say "done: $folder"
