# Completes sentinel-memory in fish: commands, options, choices, topics and ids of records.
# To switch it on, add this line to ~/.config/fish/config.fish:
#   sentinel-memory completion fish | source

# Succeeds behind the command of this name, or without a name before any command.
function __sentinel_memory_at
    set -l given (commandline -opc)
    set -e given[1]
    while set -q given[1]
        switch $given[1]
            case -p --project
                set -e given[1..2]
            case '-*'
                set -e given[1]
            case '*'
                test "$given[1]" = "$argv[1]"
                return
        end
    end
    test (count $argv) -eq 0
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
