#!/bin/sh
# Installs redis-server where a package manager can, and says how where not.
set -eu

root=
[ "$(id -u)" = 0 ] || root=sudo

if command -v apt-get >/dev/null; then
	$root apt-get update -qq
	# The tests start processes of their own: the packaged service stays off.
	$root env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get install -y -qq redis-server >/dev/null
elif command -v brew >/dev/null; then
	brew install redis
elif command -v dnf >/dev/null; then
	$root dnf install -y redis
elif command -v apk >/dev/null; then
	$root apk add redis
else
	echo "The tests need redis-server on the PATH: install Redis 6.2 or newer, or Valkey with its redis-server link." >&2
	exit 1
fi
command -v redis-server
