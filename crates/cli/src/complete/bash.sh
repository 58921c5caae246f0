# bash splits words at = : and @ too, and wants what stands behind the last of these. The command takes whole words.
_taskscale() {
    local line=${COMP_LINE:0:COMP_POINT} word last=-1 typed=${2-}
    local -a whole=()
    for word in "${COMP_WORDS[@]:0:COMP_CWORD+1}"; do
        if [[ $last -ge 0 && $line != [[:space:]]* ]]; then
            whole[last]+=$word
        else
            line=${line#"${line%%[![:space:]]*}"}
            last=$((last + 1))
            whole[last]=$word
        fi
        line=${line#"$word"}
    done
    local COMP_CWORD=$last
    local -a COMP_WORDS=("${whole[@]}")
    _clap_complete_taskscale "${1-}" "${whole[last]}"
    COMPREPLY=("${COMPREPLY[@]#"${whole[last]%"$typed"}"}")
}
complete -o nospace -o bashdefault -o nosort -F _taskscale taskscale 2>/dev/null ||
    complete -o nospace -o bashdefault -F _taskscale taskscale
