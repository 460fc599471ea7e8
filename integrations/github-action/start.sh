# Starts the mock on a free port. `start --detach` ends once the mock is ready, and fails with the reason where it is not.
set -euo pipefail
# The job may have a server already; this step starts another one.
unset TOOLMOCK_URL

# The program: that of the project, or the tarball or executable of PACKAGE, which is a file or an address.
read -r -a program <<< "${TOOLMOCK_BIN:-npx --no-install toolmock}"
if [ -n "$PACKAGE" ]; then
  folder=$(mktemp -d "${RUNNER_TEMP:-/tmp}/toolmock-XXXXXX")
  file=$PACKAGE
  case "$PACKAGE" in
    *://*)
      file="$folder/${PACKAGE##*/}"
      curl -sSfL --retry 3 -o "$file" "$PACKAGE"
      ;;
  esac
  case "$file" in
    *.tgz)
      tar -xzf "$file" -C "$folder"
      program=(node "$folder/package/dist/cli.js")
      ;;
    *)
      chmod +x "$file"
      program=("$(cd "$(dirname "$file")" && pwd)/${file##*/}")
      ;;
  esac
fi

flags=(--detach --in-memory --port 0)
each() {
  local line
  while IFS= read -r line; do
    if [ -n "${line// /}" ]; then flags+=("$1" "$line"); fi
  done <<< "$2"
}
each --seed "$SEED"
each --scenario "$SCENARIO"
each --extension "$EXTENSION"
case "$MCP" in
  true) flags+=(--mcp) ;;
  false) ;;
  *) echo "::error::toolmock: mcp is \"$MCP\"; allowed: true, false" ; exit 1 ;;
esac

ready=$("${program[@]}" start "${flags[@]}")
printf '%s\n' "$ready"
# The address of this server, whatever a configuration file says.
eval "$(grep '^export ' <<< "$ready")"
"${program[@]}" env --format github >> "$GITHUB_ENV"
echo "TOOLMOCK_BIN=${program[*]}" >> "$GITHUB_ENV"
echo "url=$TOOLMOCK_URL" >> "$GITHUB_OUTPUT"
