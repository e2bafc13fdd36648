#!/bin/sh
# sh tiny.sh NAME: the smallest server, for tests that start dozens; one tool that is called like the server.
note() { [ -n "$CASE_LEDGER" ] && printf '{"ev":"in","pid":%s,"who":"%s","method":"%s"}\n' $$ "$name" "$1" >>"$CASE_LEDGER"; }
answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
name=$1
while IFS= read -r line; do
  id=${line#*\"id\":}
  id=${id%%[,\}]*}
  case $line in
    *'"method":"initialize"'*)
      note initialize
      version=${line#*\"protocolVersion\":\"}
      answer "{\"protocolVersion\":\"${version%%\"*}\",\"capabilities\":{\"tools\":{}},\"serverInfo\":{\"name\":\"$name\",\"version\":\"1\"}}" ;;
    *'"method":"tools/list"'*)
      note tools/list
      answer "{\"tools\":[{\"name\":\"$name\",\"inputSchema\":{\"type\":\"object\"}}]}" ;;
  esac
done
