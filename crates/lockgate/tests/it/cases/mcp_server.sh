# An MCP server of 2025-11-25 for tests, on standard input and output. $TOOLS: the lists, one page a line, each with the name of the
# page after it. $LOG gets a line for each call and each cancellation, $COUNT a byte for each effect. Tools by name: `die` has its effect and
# dies, `slow` never answers, `change` swaps the list for $TOOLS.new and says so; all others answer at once with this process's number.
say() { printf '%s\n' "$1"; }
tool() { say "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"$$\"}]}}"; }
list() { # The line of the page that is asked for: `first`, or what follows `cursor=`.
    page=$(sed -n "s/^$1 //p" "$TOOLS" | head -n 1)
    say "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":$page}"
}
while IFS= read -r line; do
    id=$(printf '%s' "$line" | sed -n 's/^{"jsonrpc":"2.0","id":\([0-9]*\),.*/\1/p')
    case "$line" in
    *'"method":"initialize"'*)
        say "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"tools\":{\"listChanged\":true}},\"serverInfo\":{\"name\":\"sh\",\"version\":\"1\"}}}"
        ;;
    *'"method":"tools/list"'*)
        cursor=$(printf '%s' "$line" | sed -n 's/.*"cursor":"\([a-z]*\)".*/cursor=\1/p')
        list "${cursor:-first}"
        ;;
    *'"method":"tools/call"'*)
        name=$(printf '%s' "$line" | sed -n 's/.*"name":"\([a-z_]*\)".*/\1/p')
        echo "call $name" >>"$LOG"
        case "$name" in
        die) printf x >>"$COUNT"; kill -9 $$ ;;
        slow) ;;
        change)
            mv "$TOOLS.new" "$TOOLS"
            say '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'
            tool
            ;;
        *) tool ;;
        esac
        ;;
    *'"method":"notifications/cancelled"'*) echo cancelled >>"$LOG" ;;
    *'"method":"ping"'*) say "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{}}" ;;
    *'"method":"notifications/'*) ;;
    *) say "{\"jsonrpc\":\"2.0\",\"id\":$id,\"error\":{\"code\":-32601,\"message\":\"no\"}}" ;;
    esac
done
