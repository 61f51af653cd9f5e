#!/bin/sh
# Run answer.el under Emacs with Org 9.7.29, at a fixed time. Fetches what is missing; needs Debian or a relative of it.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
version=9.7.29
org=${ORG_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/bookwheel-org-$version}
for program in emacs faketime curl dpkg; do
  command -v $program >/dev/null || { apt-get update -qq && apt-get install -y -qq emacs-nox faketime curl; break; }
done
if [ ! -e "$org/org.el" ]; then
  mkdir -p "$org"
  mirror=$(apt-get indextargets --format '$(REPO_URI)' | grep -v security | sort -u | head -n 1)
  curl -fsS -o "$org/org.deb" "${mirror}pool/main/o/org-mode/elpa-org_${version}+dfsg-1_all.deb"
  dpkg -x "$org/org.deb" "$org/deb"
  cp "$org"/deb/usr/share/emacs/site-lisp/elpa-src/org-$version/*.el "$org"
  rm -rf "$org/deb" "$org/org.deb" "$org"/*-pkg.el
  (cd "$org" && emacs --batch -Q -L . -f batch-byte-compile ./*.el >compile.log 2>&1) || true
fi
export TZ=UTC LC_ALL=C.UTF-8 NO_FAKE_STAT=1
exec faketime -f '2026-11-15 10:00:00' emacs --batch -Q -L "$org" -l "$here/answer.el" "$@" </dev/null
