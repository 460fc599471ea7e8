import type { Run } from './command.ts'
import { UsageError } from './failure.ts'
import { COMMANDS, type Flag, flagsOf } from './command-table.ts'

const SHELLS: Readonly<Record<string, string>> = {
  // The = of --flag=value is a word of its own.
  bash: `_toolmock() {
  local words="\${COMP_WORDS[*]:1:COMP_CWORD-1}" current="\${COMP_WORDS[COMP_CWORD]}" IFS=$'\\n'
  words="\${words% =}" current="\${current#=}"
  COMPREPLY=($(compgen -W "$(_toolmock_words "$words" "$current")" -- "$current"))
}
complete -o default -F _toolmock toolmock`,
  // An empty list leaves the word to the completion of files.
  zsh: `_toolmock() {
  local before="\${words[2,CURRENT-1]}" current="\${words[CURRENT]}"
  if [[ "$current" == --*=* ]]; then
    before+=" \${current%%=*}"
    compset -P 1 '*='
  fi
  local -a found=(\${(f)"$(_toolmock_words "$before" "\${current#--*=}")"})
  (( \${#found} )) && compadd -- $found || _files
}
compdef _toolmock toolmock`,
}

/** `completion bash` and `completion zsh`: a script for the shell, out of the tables of commands and flags. */
export const completion: Run<'completion'> = ({ operands }, context) => {
  const [shell = '', ...more] = operands
  const script = Object.hasOwn(SHELLS, shell) ? SHELLS[shell] : undefined
  if (script === undefined || more.length > 0) throw new UsageError('completion takes one of bash, zsh.')
  context.out(`${words()}\n${script}`)
}

/** The shell function that prints the words that may follow others, a line each: flags where nothing else fits, or a hyphen is typed. */
function words(): string {
  const names = COMMANDS.map(({ name }) => name)
  const cases = COMMANDS.map(({ name, operands, words, wraps }) => {
    const actions = words ?? operands?.match(/(?<=^ \[?|\|)[a-z][a-z_-]*/g) ?? []
    const flags = flagsOf(name)
    return [
      `    '${name}'*)`,
      ...(wraps ? [`      case "$1 " in *' -- '*) return ;; esac`] : []),
      ...flags.flatMap(choices),
      ...(actions.length > 0 ? [`      [ "$1" = ${name} ] && ${printed(actions)}`] : []),
      `      ${operands ? 'case "$2" in -*) ' : ''}${printed(flags.map((flag) => `--${flag.name}`))} ;;${operands ? ' esac ;;' : ''}`,
    ].join('\n')
  })
  return `_toolmock_words() {
  case "$1" in
    '') ${printed(names)} ;;
${cases.join('\n')}
  esac
}`
}

function printed(offered: readonly string[]): string {
  return `printf '%s\\n' ${offered.join(' ')}`
}

/** What follows a flag that takes a value: its words, or nothing, so that the shell offers files. */
function choices({ name, kind }: Flag): string[] {
  if (kind.type === 'switch') return []
  const print = kind.type === 'choice' ? `${printed(kind.allowed)}; ` : ''
  return [`      case "$1" in *' --${name}') ${print}return ;; esac`]
}
