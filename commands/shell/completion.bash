# Completes sentinel-memory in bash: commands, options, choices, topics and ids of records.
# To switch it on, add this line to ~/.bashrc:
#   eval "$(sentinel-memory completion bash)"

_sentinel_memory() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
    local command= action= options= choices= values= known= i
    local -a project=()
    for ((i = 1; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
            -p | --project) project=(-p "${COMP_WORDS[++i]}") ;;
            -*) ;;
            *) if [[ ! $command ]]; then command=${COMP_WORDS[i]}; else action=${action:-${COMP_WORDS[i]}}; fi ;;
        esac
    done
    case "$command $action" in
        @ACTIONS@) command="$command $action" ;;
    esac
    case $command in
@COMMANDS@
    esac
    if [[ $known ]]; then
        options=
    elif [[ $cur == -* ]]; then
        choices=$options values=
    fi
    COMPREPLY=($(compgen -W "$choices" -- "$cur"))
    local IFS=$'\n' line
    case $values in
        topics | ids | gone | sessions | fragments | subjects | things)
            for line in $(sentinel-memory completion "$values" ${project[@]+"${project[@]}"} 2> /dev/null); do
                [[ $line == "$cur"* ]] && COMPREPLY+=("$(printf %q "$line")")
            done ;;
        folders) COMPREPLY=($(compgen -d -- "$cur")) && compopt -o filenames 2> /dev/null ;;
        files) COMPREPLY=($(compgen -f -- "$cur")) && compopt -o filenames 2> /dev/null ;;
    esac
}

complete -F _sentinel_memory sentinel-memory
