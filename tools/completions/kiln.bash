# SPDX-FileCopyrightText: 2026 The Kiln authors
# SPDX-License-Identifier: Apache-2.0
# Bash completion for kiln. Sourced by bash-completion when installed as `kiln`, or by hand.

_kiln_verbs="tune templates list show verify inspect bench run render export import merge prune doctor"
_kiln_dtypes="f16 bf16 tf32 f32 f64 e4m3 e5m2 s8 u8 s32"
_kiln_archs="sm_75 sm_80 sm_86 sm_87 sm_88 sm_89 sm_90 sm_90a sm_100 sm_100a sm_100f sm_103 sm_103a sm_103f
  sm_110 sm_110a sm_110f sm_120 sm_120a sm_120f sm_121 sm_121a sm_121f"
_kiln_global="--db --cubin-store --device --template-path --cuda-include --color --json --quiet
  --verbose --help"
_kiln_problem="--m --n --k --dtype --a --b --c --d --acc --layout --lda --ldb --ldc --ldd
  --align-a --align-b --align-c --align-d --alpha --beta"

# The flags of a verb, beside those of every verb.
_kiln_flags_of() {
  case $1 in
    tune) echo "$_kiln_problem --suite --stale --budget --max-candidates --strategy --seed --templates
      --set --compile-threads --candidate-timeout --again --warm --samples --compile-only --arch
      --no-baseline --in-process --no-wait" ;;
    templates) echo "$_kiln_problem --arch --names" ;;
    list) echo "--on" ;;
    show) echo "$_kiln_problem --on --top --all" ;;
    verify) echo "$_kiln_problem --template --set --timeout --seed" ;;
    inspect) echo "$_kiln_problem --template --set --clusters --top --source --timeout" ;;
    bench) echo "$_kiln_problem --suite --against --rounds --template --set --tune --warm
      --in-process --no-wait" ;;
    run) echo "$_kiln_problem --mode --log --repeat --seed" ;;
    render) echo "$_kiln_problem --set --arch --output" ;;
    export) echo "$_kiln_problem --database --template --set --arch --on --output" ;;
    prune) echo "--older --keep-best --cubins --dry-run" ;;
    doctor) echo "--save-profile" ;;
  esac
}

# Names of templates, with those of a --template-path that was typed.
_kiln_templates() {
  local i path=''
  for ((i = 1; i < ${#COMP_WORDS[@]} - 1; i++)); do
    if [[ ${COMP_WORDS[i]} == --template-path ]]; then path=${COMP_WORDS[i + 1]}; fi
  done
  "${COMP_WORDS[0]}" templates --names ${path:+--template-path "$path"} 2>/dev/null
}

_kiln() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} verb='' i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    if [[ " $_kiln_verbs " == *" ${COMP_WORDS[i]} "* ]]; then
      verb=${COMP_WORDS[i]}
      break
    fi
  done

  local words=''
  case $previous in
    --dtype | --a | --b | --c | --d | --acc) words=$_kiln_dtypes ;;
    --layout) words="nn nt tn tt" ;;
    --arch) words=$_kiln_archs ;;
    --against) words="cublaslt" ;;
    --strategy) words="random model exhaustive" ;;
    --mode) words="use tune_on_miss require default_only" ;;
    --log) words="warning info" ;;
    --color) words="auto always never" ;;
    --device) words="cuda:0 emulated:h200" ;;
    --template | --templates) words=$(_kiln_templates) ;;
    --db | --cubin-store | --suite | --output | -o | --save-profile)
      mapfile -t COMPREPLY < <(compgen -f -- "$current")
      return ;;
    --template-path | --cuda-include)
      mapfile -t COMPREPLY < <(compgen -d -- "$current")
      return ;;
  esac

  if [[ -z $words ]]; then
    if [[ -z $verb ]]; then
      words="$_kiln_verbs $_kiln_global --version"
    elif [[ $current == -* ]]; then
      words="$(_kiln_flags_of "$verb") $_kiln_global"
    else
      case $verb in
        tune | show | verify | inspect | bench | run | export) words="gemm" ;;
        templates | render) words=$(_kiln_templates) ;;
        import | merge)
          mapfile -t COMPREPLY < <(compgen -f -- "$current")
          return ;;
      esac
    fi
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}

complete -o filenames -o bashdefault -F _kiln kiln
