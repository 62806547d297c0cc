#!/bin/sh
# Unpacks servers of Debian 12 and 13 into a folder, with the libraries that they need:
# $1/redis-7.0, $1/redis-8.0 and $1/valkey-8.1 run as redis-server does. Nothing is
# installed, and apt works on a state of its own.
set -eu

. /etc/os-release
# What a newer gcc makes for a server's clock does not load into the older server.
[ "$ID-$VERSION_ID" = debian-12 ] || { echo "this needs Debian 12, such as a container of it: the servers are from its archive" >&2; exit 1; }

keyring=/usr/share/keyrings/debian-archive-keyring.gpg
mirror=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
	awk -v release="$VERSION_CODENAME" '$2 == release && $3 == "main" { print $1; exit }')
[ -n "$mirror" ] || { echo "apt has no source of Debian $VERSION_CODENAME, whose mirror would be asked" >&2; exit 1; }
mkdir -p "$1"
folder=$(cd "$1" && pwd)

# fetch downloads a package of a release and all that it depends on, and unpacks them.
fetch() { # name release package
	apt=$folder/apt/$1
	mkdir -p "$apt/etc/preferences.d" "$apt/lists/partial" "$apt/cache/archives/partial" "$folder/root"
	echo "deb [signed-by=$keyring] $mirror $2 main" >"$apt/etc/sources.list"
	: >"$apt/status" # nothing is installed, so that the libraries come as well
	set -- "$1" "$3" -qq -o "Dir::Etc=$apt/etc" -o "Dir::State=$apt" -o "Dir::State::status=$apt/status" -o "Dir::Cache=$apt/cache" -o APT::Sandbox::User=
	name=$1 package=$2
	shift 2
	apt-get "$@" update
	apt-get "$@" -y --no-install-recommends --download-only install "$package" >/dev/null
	for file in "$apt"/cache/archives/*.deb; do
		dpkg -x "$file" "$folder/root/$name"
	done
	rm -r "$apt"
}

# wrap writes the program that runs a server with its own libraries.
wrap() { # name package
	root=$folder/root/$1
	libraries=$(dirname "$(find "$root" -name libc.so.6 | head -n 1)")
	loader=$(find "$libraries" -name 'ld-linux*' | head -n 1)
	printf '#!/bin/sh\nexec "%s" --library-path "%s" --argv0 "%s" "%s" "$@"\n' \
		"$loader" "$libraries:$root/usr/lib/${libraries##*/}" "$2" "$root/usr/bin/$2" >"$folder/$1.new"
	chmod +x "$folder/$1.new"
	mv "$folder/$1.new" "$folder/$1" # only a whole one counts
}

provide() { # name release package
	[ ! -x "$folder/$1" ] || return 0
	fetch "$1" "$2" "$3"
	wrap "$1" "$3"
}

provide redis-7.0 bookworm redis-server
provide redis-8.0 trixie redis-server
provide valkey-8.1 trixie valkey-server
