import { print } from '../output/print.ts';
import { suggestions } from './suggestions.ts';

/**
 * Prints the suggestions for a completion script: the word, and after a tab its description.
 *
 * @param args - `--`, then the words after the name of the command up to the cursor
 */
export async function complete(args: readonly string[]): Promise<void> {
  const words = args[0] === '--' ? args.slice(1) : args;
  for (const { word, description } of await suggestions(words)) {
    const [line = ''] = description.split('\n');
    await print(line === '' ? word : `${word}\t${line}`);
  }
}
