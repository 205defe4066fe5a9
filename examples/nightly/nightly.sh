#!/bin/sh
# usage: nightly.sh FOLDER [PAGE.md]; FOLDER is kept from night to night
set -u
folder=$1
page=${2:-/dev/null}
rm -rf reports
pytest --junitxml=reports/junit.nightly.xml || true
exec fireloop decide --expect nightly --fire-loop-dir "$folder" --markdown "$page" reports/junit.*.xml
