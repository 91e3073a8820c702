import { readToolName, tagsOf } from '@actlog/risk';
import { Command } from 'commander';
import { addExamples } from '../command/examples.ts';
import { addFormatOptions, type FormatFlags } from '../output/format.ts';
import { printRecord } from '../output/print-record.ts';

/** Creates the command `tool`, which shows how the risk engine classifies a tool by its name. */
export function toolCommand(): Command {
  const command = new Command('tool')
    .description(
      'Shows how the risk engine classifies a tool by its name. `actlog tags` corrects it for a tenant.',
    )
    .argument('<name>', 'name of the tool');
  addFormatOptions(command).action(async (name: string, flags: FormatFlags) => {
    const { bits, acts, verb, noun } = readToolName(name);
    const tags = tagsOf(bits);
    await printRecord(
      { name, acts, verb: verb ?? null, noun: noun ?? null, tags },
      [
        ['tool', name, 'bold'],
        ['kind', acts ? 'acts' : 'looks'],
        ['verb', verb ?? 'unknown'],
        ['noun', noun ?? 'unknown'],
        ['tags', tags.join(', ') || 'none'],
      ],
      flags,
    );
  });
  return addExamples(command, ['actlog tool mcp__mail__sendEmail']);
}
