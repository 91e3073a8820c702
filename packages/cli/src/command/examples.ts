import type { Command } from 'commander';

/** A command line, with or without a sentence about it. */
export type Example = string | readonly [line: string, comment: string];

/** Adds examples to the end of a command's help. */
export function addExamples(command: Command, examples: readonly Example[]): Command {
  const lines = examples.map((example) => {
    if (typeof example === 'string') return `  $ ${example}`;
    const [line, comment] = example;
    return `  # ${comment}\n  $ ${line}`;
  });
  return command.addHelpText('after', `\nExamples:\n${lines.join('\n')}`);
}
