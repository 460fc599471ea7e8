# Starts the mock on a free port. `start --detach` ends once the mock is ready, and fails with the reason where it is not.
set -euo pipefail

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

toolmock="toolmock${VERSION:+@$VERSION}"
npx --yes "$toolmock" start "${flags[@]}"
npx --yes "$toolmock" env --format github >> "$GITHUB_ENV"
echo "TOOLMOCK_VERSION=$VERSION" >> "$GITHUB_ENV"
echo "url=$(npx --yes "$toolmock" env --format dotenv | sed -n 's/^TOOLMOCK_URL="\(.*\)"$/\1/p')" >> "$GITHUB_OUTPUT"
