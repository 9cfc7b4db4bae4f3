# SPDX-FileCopyrightText: 2026 The Kiln authors
# SPDX-License-Identifier: Apache-2.0
# zsh -f complete.zsh SCRIPT LINE: what zsh would offer at the end of the line, one a line. Only an
# interactive shell completes, so one is started on a terminal of its own.
zmodload zsh/zpty
local out=$PWD/.offered inner=$PWD/.inner.zsh
rm -f $out $out.done
print -r -- "
  PROMPT='' PS2=''
  fpath=(${(q)1:h} \$fpath)
  autoload -Uz compinit && compinit -u -d \$PWD/.zcompdump
  compadd() {
    local -a hits
    # These calls only ask for matches; the others add them.
    if [[ \" \${@[1,(i)(-|--)]} \" != *' -'[OAD]' '* ]]; then
      builtin compadd -A hits \"\$@\"
      (( \$#hits )) && print -rl -- \$hits >>${(q)out}
    fi
    builtin compadd \"\$@\"
  }
  offer() {
    BUFFER=${(qq)2} CURSOR=${#2}
    zle list-choices
    : >${(q)out}.done
  }
  zle -N offer
  bindkey '^T' offer
" >$inner
zpty shell zsh -f -i
zpty -w shell "source ${(q)inner}"
zpty -w -n shell $'\x14'
repeat 300; do
  [[ -e $out.done ]] && break
  # What the terminal shows is read, or the shell would wait for a reader.
  zpty -r -t shell >/dev/null
  sleep 0.05
done
zpty -d shell
[[ -e $out.done ]] || exit 1
[[ -e $out ]] && cat $out
exit 0
