import { Argument, Command } from 'commander';
import { addExamples } from '../command/client-command.ts';
import { write } from '../output/print.ts';

/** Creates the command `completion`, which prints the completion script of a shell. */
export function completionCommand(): Command {
  const command = new Command('completion')
    .description('Prints the completion script of a shell, for subcommands, options and choices.')
    .addArgument(new Argument('<shell>', 'your shell').choices(shells))
    .action((shell: Shell) => write(completionScripts[shell]));
  return addExamples(command, [
    ['source <(actlog completion bash)', 'bash; put this line into ~/.bashrc'],
    ['source <(actlog completion zsh)', 'zsh; put this line into ~/.zshrc, after compinit'],
    ['actlog completion fish > ~/.config/fish/completions/actlog.fish', 'fish'],
  ]);
}

/** Shells with completion. */
const shells = ['bash', 'zsh', 'fish'] as const;

/** One of the shells. */
type Shell = (typeof shells)[number];

// Each script runs `actlog __complete` with the words up to the cursor. It prints a suggestion on each line: the word,
// and after a tab its description. Without suggestions, the shell completes file names.

const bash = `# bash completion for actlog
_actlog() {
  local IFS=$'\\n' line
  COMPREPLY=()
  while IFS= read -r line; do
    COMPREPLY+=("\${line%%$'\\t'*}")
  done < <(actlog __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o bashdefault -o default -F _actlog actlog
`;

const zsh = `#compdef actlog
# zsh completion for actlog
_actlog() {
  local line
  local -a suggestions
  while IFS= read -r line; do
    line=\${line//:/\\\\:}
    suggestions+=("\${line/$'\\t'/:}")
  done < <(actlog __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  if (( \${#suggestions} )); then
    _describe 'actlog' suggestions
  else
    _files
  fi
}
if [[ "\${funcstack[1]}" == _actlog ]]; then
  _actlog "$@"
else
  compdef _actlog actlog
fi
`;

const fish = `# fish completion for actlog
function __actlog_suggestions
  set -l words (commandline -opc) (commandline -ct)
  set -l suggestions (actlog __complete -- $words[2..-1] 2>/dev/null)
  if test (count $suggestions) -gt 0
    printf '%s\\n' $suggestions
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c actlog -f -a '(__actlog_suggestions)'
`;

/** Completion scripts by shell. */
export const completionScripts: Readonly<Record<Shell, string>> = { bash, zsh, fish };
