# Completes sentinel-memory in fish: commands, options, choices, topics and ids of records.
# To switch it on, add this line to ~/.config/fish/config.fish:
#   sentinel-memory completion fish | source

# Succeeds behind the command of this name, or the command and its action, or before any command.
function __sentinel_memory_at
    set -l given (commandline -opc)
    set -e given[1]
    set -l words
    while set -q given[1]
        switch $given[1]
            case -p --project
                set -e given[1]
            case '-*'
            case '*'
                set -a words $given[1]
        end
        set -e given[1]
    end
    set -l at $words[1]
    contains -- "$words[1] $words[2]" @ACTIONS@; and set at "$words[1] $words[2]"
    test "$at" = "$argv"
end

# Prints the topics or the ids of the memory that is meant.
function __sentinel_memory_names
    set -l given (commandline -opc)
    set -l at (contains -i -- -p $given; or contains -i -- --project $given)
    set -q at[1]; and set -l project -p $given[(math $at[1] + 1)]
    sentinel-memory completion $argv[1] $project 2>/dev/null
end

complete -c sentinel-memory -f
@COMMANDS@
