import { Argument, Command } from 'commander';
import { addExamples } from '../command/examples.ts';
import { write } from '../output/print.ts';
import { completionScripts, type Shell, shells } from './completion-scripts.ts';

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
