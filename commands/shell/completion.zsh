# Completes sentinel-memory in zsh: commands, options, choices, topics and ids of records.
# To switch it on, add this line to ~/.zshrc, below compinit:
#   eval "$(sentinel-memory completion zsh)"

_sentinel_memory() {
    local prev=$words[CURRENT-1] command= action= values= known= i
    local -a project options choices
    for ((i = 2; i < CURRENT; i++)); do
        case $words[i] in
            -p | --project) project=(-p "$words[i+1]"); ((i++)) ;;
            -*) ;;
            *) if [[ -z $command ]]; then command=$words[i]; else action=${action:-$words[i]}; fi ;;
        esac
    done
    case "$command $action" in
        @ACTIONS@) command="$command $action" ;;
    esac
    case $command in
@COMMANDS@
    esac
    if [[ -z $known && $words[CURRENT] == -* ]]; then
        _describe option options
        return
    fi
    (($#choices)) && _describe value choices
    case $values in
        topics | ids | gone | sessions | fragments | subjects | things) compadd -- ${(f)"$(sentinel-memory completion $values $project 2> /dev/null)"} ;;
        folders) _files -/ ;;
        files) _files ;;
    esac
}

compdef _sentinel_memory sentinel-memory
