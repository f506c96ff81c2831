#!/bin/sh
# A batch system of one shell script, for tests: fake_batch.sh DIR VERB [ARGUMENT...]. DIR/jobs/N is job N. Files in DIR
# say how it behaves: `refuse` holds how many submissions are rejected, `hold` keeps jobs waiting, `die` ends them before
# they begin, as the state that it holds, `mute` accepts them and reports a failure, `kill` holds a process that is killed
# once one is accepted, `late` one that is killed two seconds before, `silent` makes queries fail.
dir=$1 verb=$2
shift 2
case $verb in
submit) # NAME SCRIPT
    left=$(cat "$dir/refuse" 2>/dev/null)
    if [ "${left:-0}" -gt 0 ]; then
        echo $((left - 1)) >"$dir/refuse"
        echo "error: Job violates accounting/QOS policy" >&2
        exit 1
    fi
    if [ -e "$dir/late" ]; then
        daemon=$(cat "$dir/late")
        rm "$dir/late"
        kill -9 "$daemon"
        sleep 2
    fi
    id=1
    until mkdir "$dir/jobs/$id" 2>/dev/null; do id=$((id + 1)); done
    job=$dir/jobs/$id
    cp "$2" "$job/script"
    echo PENDING >"$job/state"
    echo "$1" >"$job/name"
    if [ -e "$dir/die" ]; then
        cat "$dir/die" >"$job/state"
    elif [ ! -e "$dir/hold" ]; then
        setsid sh "$0" "$dir" run "$id" </dev/null >/dev/null 2>&1 &
    fi
    if [ -e "$dir/kill" ]; then
        daemon=$(cat "$dir/kill")
        rm "$dir/kill"
        kill -9 "$daemon"
    fi
    [ ! -e "$dir/mute" ] || exit 1
    echo "$id"
    ;;
run)
    job=$dir/jobs/$1
    echo RUNNING >"$job/state"
    sh "$job/script" &
    echo $! >"$job/pid"
    wait $! && word=COMPLETED || word=FAILED
    [ ! -e "$job/word" ] || word=$(cat "$job/word")
    echo "$word" >"$job/state"
    ;;
release) # all that wait
    for job in "$dir"/jobs/*; do
        [ "$(cat "$job/state")" != PENDING ] ||
            setsid sh "$0" "$dir" run "${job##*/}" </dev/null >/dev/null 2>&1 &
    done
    ;;
query)
    if [ -e "$dir/silent" ]; then
        echo asked >>"$dir/silent"
        echo "error: Unable to contact the controller" >&2
        exit 1
    fi
    for job in "$dir"/jobs/*; do
        [ ! -e "$job/name" ] || echo "${job##*/}|$(cat "$job/name")|$(cat "$job/state")|N/A|1|Resources"
    done
    ;;
cancel | signal)
    job=$dir/jobs/$1
    [ "$verb" = signal ] || echo CANCELLED >"$job/word"
    if [ "$(cat "$job/state")" = PENDING ]; then
        echo CANCELLED >"$job/state"
    elif [ -e "$job/pid" ]; then
        kill -TERM "$(cat "$job/pid")" 2>/dev/null
    fi
    exit 0
    ;;
esac
