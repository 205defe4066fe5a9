#!/bin/sh
# tox's own exit code does not say which environment failed, or why; the reports do
set -u
rm -f .tox/junit.*.xml
tox -p all || true
exec fireloop decide --expect point,comma "$@" .tox/junit.*.xml
