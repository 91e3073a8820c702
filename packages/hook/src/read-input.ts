import { readSync } from 'node:fs';
import { decodeText, parseExactJson } from '@actlog/recorder/short-lived';
import { InvalidInputError } from './dialects/event-fields.ts';

/** Maximum size of an event, in bytes: the result of a tool may be large. */
const maxInputBytes = 64 * 1024 * 1024;
const chunkBytes = 64 * 1024;

/** An event from stdin. */
export interface HookInput {
  /** JSON of the event. */
  readonly text: string;
  /** The parsed event, in which a number that a double cannot hold is a `JSON.rawJSON` object. */
  readonly value: unknown;
}

/**
 * Reads the JSON of an event from stdin.
 *
 * @throws InvalidInputError when it is not JSON or too large; the message contains nothing of it
 */
export async function readInput(): Promise<HookInput> {
  const input = new Input();
  if (!readPipe(input)) for await (const chunk of process.stdin) input.add(Buffer.from(chunk as Buffer));
  return input.parse();
}

/**
 * Reads a pipe without a stream, which takes longer to load than the rest of a hook that says nothing.
 *
 * @returns `false` if the end was not reached, because reading does not block
 */
function readPipe(input: Input): boolean {
  for (;;) {
    const buffer = Buffer.allocUnsafe(chunkBytes);
    let length: number;
    try {
      length = readSync(0, buffer);
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'EOF'; // the end of a pipe on Windows
    }
    if (length === 0) return true;
    input.add(buffer.subarray(0, length));
  }
}

/** Content of stdin. */
class Input {
  readonly #chunks: Buffer[] = [];
  #bytes = 0;

  add(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > maxInputBytes) {
      throw new InvalidInputError(
        `The hook event is larger than ${maxInputBytes} bytes: it is not recorded.`,
      );
    }
    this.#chunks.push(chunk);
  }

  parse(): HookInput {
    try {
      const text = decodeText(Buffer.concat(this.#chunks));
      return { text, value: parseExactJson(text) };
    } catch {
      throw new InvalidInputError(
        'The hook event on stdin is not JSON: start this command as a hook of the agent, not by hand.',
      );
    }
  }
}
