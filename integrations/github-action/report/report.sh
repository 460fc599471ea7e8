# Reads the reports of the mock that TOOLMOCK_URL names.
set -euo pipefail

if [ -z "${TOOLMOCK_URL:-}" ]; then
  echo '::error::toolmock: no mock was started; use the action toolmock in a step before this one'
  exit 1
fi
read -r -a program <<< "${TOOLMOCK_BIN:-npx --no-install toolmock}"
toolmock() { "${program[@]}" "$@"; }

# Annotations are lines of the log. The summary is indented, so that what clients sent stays text.
toolmock report --format github
{
  printf '\n\n## toolmock\n\n'
  toolmock report | sed 's/^/    /'
} >> "$GITHUB_STEP_SUMMARY"
toolmock report --format sarif --output "$SARIF"

flags=()
if [ "$ALLOW_NO_REQUESTS" = true ]; then flags+=(--allow-no-requests); fi
# Bash 3.2, that of macOS, takes an empty list for an unset variable.
if [ "$FAIL" != false ]; then toolmock report --fail "${flags[@]+"${flags[@]}"}" > /dev/null; fi
