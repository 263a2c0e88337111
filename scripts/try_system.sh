#!/usr/bin/env bash
# Try the README and a wheel on a new Debian with Python and pip only, as root.
#
#   bash scripts/try_system.sh SUITE WHEEL FOLDER
#
# Makes the system of SUITE (bookworm: Python 3.11, sid: 3.14) in FOLDER with debootstrap, which has to be
# installed; runs both commands of the README in a clone, installs the wheel by pip alone, and does
# the same from a folder of wheels without a network. Prints seconds and MB.
set -euo pipefail
suite=$1 wheel=$(realpath "$2") root=$(realpath -m "$3")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
packages=python3,python3-pip,python3-venv,ca-certificates
debootstrap --variant=minbase --include=$packages "$suite" "$root" > /dev/null
cp -L /etc/resolv.conf "$root/etc/"
cp -L "${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}" "$root/etc/ssl/certs/ca-certificates.crt"
git clone --quiet . "$root/srv/clone"
mapfile -t commands < <(sed -n 's/^    \(pip install uv .*\)/\1/p' README.md)
cp "$wheel" scripts/try_wheel.py "$root/srv/"

inside() { # COMMAND: in the new system, in an environment of its own, with a loopback device
  local began=$SECONDS
  unshare --mount ${offline:+--net} bash -euc '
    ip link set lo up 2> /dev/null || true
    mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev"
    chroot "$0" env -i HOME=/srv LANG=C.UTF-8 TERM=xterm-256color PATH=/usr/bin:/bin \
      SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt bash -euc "cd; $1"' "$root" "$1"
  printf '%s s: %s\n' $((SECONDS - began)) "$1"
}

enter='cd clone; python3 -m venv .venv; . .venv/bin/activate'
inside "python3 --version; $enter; ${commands[0]} --smoke; du -sm .venv"
inside "$enter; ${commands[1]} -n 0 tests/contract/test_help.py; du -sm .venv"
inside "python3 -m venv one; one/bin/pip install -q *.whl aiohttp; du -sm one"
inside "one/bin/python try_wheel.py used; one/bin/pip download -q --dest wheels *.whl aiohttp"
offline=yes
inside "python3 -m venv two; two/bin/pip install -q --no-index --find-links wheels *.whl aiohttp"
inside "two/bin/python try_wheel.py used-offline"
