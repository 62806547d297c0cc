#!/bin/sh
# Installs what the tests start, where a package manager can: redis-server for the
# store, prometheus for the dashboard, curl and node for the clients, gcc for a server whose clock jumps. Says how where not.
set -eu

missing=
for tool in redis-server:redis-server prometheus:prometheus promtool:prometheus curl:curl node:nodejs npm:npm gcc:gcc; do
	command -v "${tool%%:*}" >/dev/null || missing="$missing ${tool##*:}"
done
[ -n "$missing" ] || exit 0

root=
[ "$(id -u)" = 0 ] || root=sudo

if command -v apt-get >/dev/null; then
	$root apt-get update -qq
	# The tests start processes of their own: the packaged services stay off.
	$root env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get install -y -qq $missing >/dev/null
elif command -v brew >/dev/null; then
	brew install redis prometheus curl node gcc
elif command -v dnf >/dev/null; then
	$root dnf install -y redis golang-github-prometheus curl nodejs npm gcc
elif command -v apk >/dev/null; then
	$root apk add redis prometheus curl nodejs npm gcc
else
	echo "The tests need$missing on the PATH (Redis 6.2 or newer, or Valkey as redis-server)." >&2
	exit 1
fi
